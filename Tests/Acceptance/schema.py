"""docs/openapi.json as a checker of answers: the subset of JSON Schema that it uses, and what each route may answer."""
import json, os, re, uuid

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = json.load(open(os.path.join(HERE, "../../docs/openapi.json")))
CODES = set(re.findall(r"^\| `(E_[A-Z_]+)`", open(os.path.join(HERE, "../../docs/reference/ERRORS.md")).read(), re.M))
KNOWN = {"$ref", "type", "properties", "required", "items", "anyOf", "enum", "format", "minimum", "maximum", "minLength", "minItems", "maxItems", "description", "example"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
OPERATIONS = [(method.upper(), path, operation) for path, methods in DOCUMENT["paths"].items()
              for method, operation in methods.items() if method != "parameters"]
PATTERNS = [(re.compile("^" + re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) + "$"), path) for path in DOCUMENT["paths"]]
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def resolve(schema):
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def fault(value, schema, at="answer"):
    """What of a value does not fit; None if all does."""
    schema = resolve(schema)
    assert set(schema) <= KNOWN, f"the document uses {set(schema) - KNOWN}, which this does not know"
    if "anyOf" in schema:
        faults = [fault(value, one, at) for one in schema["anyOf"]]
        return None if None in faults else "; or ".join(faults)
    kind = schema.get("type")
    if kind == "integer" or kind == "number":
        if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else (int, float)):
            return f"{at} is no {kind}: {value!r:.60}"
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            return f"{at} is out of its bounds: {value}"
    elif kind and not isinstance(value, KINDS[kind]):
        return f"{at} is no {kind}: {value!r:.60}"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        return f"{at} is too short: {value!r:.60}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is none of {schema['enum']}: {value!r:.60}"
    if schema.get("format") == "uuid":
        try:
            uuid.UUID(value)
        except ValueError:
            return f"{at} is no UUID: {value!r:.60}"
    if schema.get("format") == "date-time" and not TIME.match(value):
        return f"{at} is no time: {value!r:.60}"
    if kind == "object":
        for name in schema.get("required", []):
            if name not in value:
                return f"{at} has no {name}: {json.dumps(value):.200}"
        for name, one in schema.get("properties", {}).items():
            if name in value and (found := fault(value[name], one, f"{at}.{name}")):
                return found
    if kind == "array" and not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return f"{at} has {len(value)} items"
    if kind == "array" and "items" in schema:
        for number, one in enumerate(value):
            if found := fault(one, schema["items"], f"{at}[{number}]"):
                return found
    return None


def problem(status, form, body):
    """What of a problem (RFC 9457) is not as it should be."""
    if form != "application/problem+json":
        return f"an error as {form}"
    try:
        value = json.loads(body.decode())
    except ValueError:
        return f"an error that is no JSON: {body[:200]}"
    if found := fault(value, {"$ref": "#/components/schemas/Error"}):
        return found
    if value["status"] != status or value["type"] != "urn:sillok:error:" + value["code"] or not value["detail"]:
        return f"status, type and code differ: {body[:200]}"
    if value["code"] not in CODES:
        return f"{value['code']} is not in ERRORS.md"
    return None


def judge(method, path, status, form, body, whole=True):
    """What of an answer is not as the document says; None if all is. `path` is one of the document's, or None for another."""
    form = (form or "").split(";")[0].strip()
    if status >= 500 and status not in (503, 507):
        told = DOCUMENT["paths"].get(path, {}).get(method.lower(), {}).get("responses", {})
        if status != 504 or "504" not in told:
            return f"{status}: {body[:200]}"
    head = method == "HEAD"
    operation = DOCUMENT["paths"].get(path, {}).get("get" if head else method.lower())
    if head and body:
        return f"HEAD has a body: {body[:60]}"
    if operation is None:
        return None if head else problem(status, form, body) if status >= 400 else f"{status} for what the document does not have"
    answer = operation["responses"].get(str(status))
    lines = form == "application/x-ndjson"
    if status >= 400 and not lines and not head:
        if found := problem(status, form, body):
            return found
        code = json.loads(body)["code"]
        if answer is None:
            return f"{status} {code} is not among its answers"
        if "E_" in answer["description"] and code not in answer["description"]:
            return f"{status} {code} is not among the codes of this answer ({answer['description']})"
        return None
    if answer is None:
        return f"{status} is not among its answers: {body[:200]}"
    if head or "content" not in answer:
        return f"a body where there is none: {body[:60]}" if body else None
    if "*/*" in answer["content"]:
        return None
    if form not in answer["content"]:
        return f"{status} as {form}, which the document does not have"
    schema = answer["content"][form]["schema"]
    if form == "text/event-stream":
        return None
    try:
        values = [json.loads(line) for line in body.decode().split("\n") if line] if lines else [json.loads(body.decode())]
    except ValueError as error:
        return f"no JSON: {error} {body[:200]}" if whole else None
    if lines and whole and (not values or values[-1].get("type") != "end"):
        return f"no end: {body[-200:]}"
    for value in values:
        if found := fault(value, schema):
            return f"{status} {found}"
    return None
