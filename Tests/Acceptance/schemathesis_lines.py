"""What schemathesis has to be told of our document: how lines of JSON are read and written. Read by it alone (fuzz.py, check 31c)."""
import json

import schemathesis


@schemathesis.deserializer("application/x-ndjson")
def lines(context, response):
    """The document describes a line: one of them is held to it. Each of all is by check 31."""
    found = [line for line in response.content.decode().splitlines() if line]
    return json.loads(found[len(found) // 2]) if found else None


@schemathesis.serializer("application/x-ndjson")
def line(context, value):
    return json.dumps(value).encode()
