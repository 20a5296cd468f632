"""Times another judge on the commands of a file; prints the mean in microseconds of thread time."""

import json
import sys
import time

from tools.approval import detect_dangerous_command

with open(sys.argv[1], encoding="utf-8") as file:
    commands = json.load(file)

for command in commands[:50]:
    detect_dangerous_command(command)

total = 0
for command in commands:
    best = None
    for _ in range(3):
        start = time.thread_time_ns()
        detect_dangerous_command(command)
        took = time.thread_time_ns() - start
        best = took if best is None else min(best, took)
    total += best
print(total / len(commands) / 1000)
