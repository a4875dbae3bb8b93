Syncctl.main()
