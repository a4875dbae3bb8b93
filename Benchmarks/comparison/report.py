def print_goals(results): pass
def write(results, root): pass
