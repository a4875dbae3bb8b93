Syncd.main()
