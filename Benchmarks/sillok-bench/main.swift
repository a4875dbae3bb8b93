print("sillok-bench")
