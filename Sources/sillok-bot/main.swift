SillokBot.main()
