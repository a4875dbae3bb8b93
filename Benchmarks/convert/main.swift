print("sillok-convert")
