SillokGateway.main()
