#!/usr/bin/env python3
"""Arrive? Alive!, the subway alarm: the protocol, a thousand riders at once beside a hundred half requests, kill -9, the record at both nodes."""
from system import *
import thousand
from gateway import DATA, Gateway, paired, position

RIDERS, HALF = 1000, 100
VECTORS = {"1@ 대구;": "1@1호선@2호선@3호선", "3@대구@1호선@설화명곡@안심;": "3@반야월@47", "3@대구@1호선@설화명곡@대곡;": "0@",
           "3@대구@1호선@안지랑@설화명곡;": "3@대곡@14", "7@x;": "9@unknown_code"}


def main():
    first, second = two("first", "second")
    checked = subprocess.run([BIN + "/sillok-gateway", "check", DATA], capture_output=True, text=True)
    check("S3-10: the stations of the example are right", checked.returncode, 0)
    gateway = Gateway(first)
    for asked, answer in VECTORS.items():
        check(f"S3-1 to S3-6: {asked} is answered {answer}", gateway.ask(asked), [answer])
    check("S3-7: back to an earlier step on one connection", gateway.ask("3@대구@1호선@설화명곡@안심;1@대구;"), ["3@반야월@47", "1@1호선@2호선@3호선"])

    before = position(first)
    told = thousand.run(gateway.port, RIDERS, silent=HALF)
    took = f"{told['seconds']} s, p50 {told['p50_ms']} ms, p99 {told['p99_ms']} ms"
    check(f"S3-8: {RIDERS} riders with three questions each, {HALF} half requests beside them: {took}", (
        told["answers"], told["errors"], told["first_error"]), (3 * RIDERS, 0, None))
    # Three questions, three answers and an alarm each.
    check(f"S3-14: {7 * RIDERS} events of them, and none of half requests", position(first) - before, 7 * RIDERS)
    gateway.kill()
    settle(first, second)
    for node in (first, second):
        trips = paired(node)[0]
        whole = sum([line["data"].get("code") for line in asked] == [1, 2, 3] for asked in trips.values())
        check(f"S3-20: after kill -9 each of {sum(map(len, trips.values()))} questions at {node.name} has its answer and its cause", whole, RIDERS)
    trip = next(line["conversation"] for line in lines(first, "conversations") if "conversation" in line)
    replayed = [[{**line, "position": None} for line in lines(node, "replay", "--conversation", trip) if "specversion" in line] for node in (first, second)]
    check(f"S3-20: a trip is replayed, {len(replayed[0])} events, the same at both nodes", (len(replayed[0]) >= 2, replayed[1]), (True, replayed[0]))
    rider = trip.replace("trip-", "rider-")
    alarms = [one["data"] for one in events(second, "history", rider, "--type", "alarm.set")]
    check("S3-13: the rider's alarm has all that was chosen, at the other node", [sorted(one) for one in alarms],
          [sorted(["city", "line", "from", "to", "alarmStation", "minutes", "at", "rings"])])
    proven(first, second)


run(main)
