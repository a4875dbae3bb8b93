#!/usr/bin/env python3
"""A small identity provider for tests: accounts with addresses and passwords, and JWTs (ES256) for those who sign in. Needs the program openssl.

Sillok keeps no passwords (docs/operating/access.md): a node takes the tokens of a provider by the file of its public keys. As a program:
issuer.py FOLDER [PORT] keeps key, accounts and `jwks.json` in FOLDER, serves /sign-in for browsers, and prints what `api.jwt` needs.

    POST /sign-up {address, password}    201 · 409 E_EMAIL_USED · 422 E_EMAIL_INVALID, E_PASSWORD_WEAK
    POST /sign-in {address, password}    200 {id_token, refresh_token, expires_in} · 401 E_CREDENTIALS
    POST /token {refresh_token}          200, a new token · 401 once signed out
    POST /sign-out {refresh_token}       204
    POST /reset {address}                202, also for an address that no one has; who has it gets a code by mail (`Issuer.mail`)
    POST /reset/CODE {password}          200, once and within 15 minutes, and all are signed out · 404 E_CODE · 422 E_PASSWORD_WEAK
    GET /.well-known/openid-configuration, /jwks.json, /sign-in

Errors and notices are in the language that `Accept-Language` names first, Korean or English.
"""
import base64, hashlib, hmac, http.server, json, os, re, secrets, subprocess, sys, threading, time

TEXTS = {
    "E_EMAIL_USED": (409, "해당 이메일은 이미 사용 중입니다.", "This address is already in use."),
    "E_EMAIL_INVALID": (422, "유효하지 않은 이메일 주소입니다.", "This is not a valid address."),
    "E_PASSWORD_WEAK": (422, "비밀번호가 너무 짧습니다. 6글자 이상으로 해주세요.", "The password is too short: 6 characters at least."),
    "E_CREDENTIALS": (401, "이메일 또는 비밀번호가 일치하지 않습니다.", "Address or password do not match."),
    "E_CODE": (404, "코드가 올바르지 않거나 만료되었습니다.", "The code is wrong, used, or over."),
    "E_SESSION": (401, "다시 로그인해 주세요.", "Please sign in again."),
    "signed up": (201, "회원가입이 완료되었습니다.", "Your account is ready."),
    "mailed": (202, "메일을 확인해 주세요.", "Look at your mail."),
    "reset": (200, "비밀번호가 변경되었습니다.", "Your password is another one now."),
}
ADDRESS = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
PAGE = """<!doctype html><meta charset="utf-8"><title>로그인</title>
<form><label>이메일주소 <input id="address" autocomplete="username"></label>
<label>비밀번호 <input id="password" type="password" autocomplete="current-password"></label>
<button id="show" type="button" aria-pressed="false">보기</button>
<button id="sign-in" disabled>로그인</button> <button id="sign-up" type="button" disabled>회원가입</button>
<button id="reset" type="button" disabled>비밀번호 재설정</button></form>
<p role="status"></p><output id="token" hidden></output>
<script type="module">
const one = (id) => document.getElementById(id), fields = [one("address"), one("password")]
const say = (text) => document.querySelector("[role=status]").textContent = text
for (const field of fields) field.addEventListener("input", () => {
  if (/^\\s/.test(field.value)) field.value = field.value.trimStart()
  one("sign-in").disabled = one("sign-up").disabled = !fields.every((one) => one.value)
  one("reset").disabled = !one("address").value
})
one("show").addEventListener("click", () => {
  const isShown = fields[1].type === "password"
  fields[1].type = isShown ? "text" : "password"
  one("show").ariaPressed = isShown
})
async function send(path) {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify({ address: fields[0].value, password: fields[1].value }) })
  const told = await answer.json()
  say(told.text ?? "")
  return told
}
one("sign-up").addEventListener("click", async () => {
  if (!(await send("sign-up")).code) fields[1].value = ""
  fields[1].dispatchEvent(new Event("input"))
})
one("reset").addEventListener("click", () => send("reset"))
document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault()
  one("token").textContent = (await send("sign-in")).id_token ?? ""
})
</script>"""


def part(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class Refused(Exception):
    """By a code of TEXTS."""


class Issuer:
    """`life`: seconds that a token lasts. A node allows clocks to be 60 s apart, so a token of -57 s counts for three seconds more."""

    def __init__(self, folder, audience="sillok", life=300):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.audience, self.life, self.now = folder, audience, life, time.time
        self.key, self.jwks = os.path.join(folder, "key.pem"), os.path.join(folder, "jwks.json")
        if not os.path.exists(self.key):
            self.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.key)
            os.chmod(self.key, 0o600)
        point = self.openssl("pkey", "-in", self.key, "-pubout", "-outform", "DER")[-64:]  # X and Y end the public key
        self.public = {"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "x": part(point[:32]), "y": part(point[32:])}
        self.public["kid"] = hashlib.sha256(point).hexdigest()[:16]
        self.put(self.jwks, {"keys": [self.public]})
        self.mail, self.codes, self.lock = [], {}, threading.Lock()  # mail: (address, code)
        try:
            with open(os.path.join(folder, "accounts.json")) as file:
                self.accounts, self.sessions = json.load(file)
        except FileNotFoundError:
            self.accounts, self.sessions = {}, {}
        self.nobody = self.hashed(secrets.token_hex(8))  # for an address that is not here: it takes as long

    @staticmethod
    def openssl(*words, said=None):
        return subprocess.run(["openssl", *words], input=said, check=True, capture_output=True).stdout

    @staticmethod
    def put(path, value):
        """At once: who reads it meanwhile has the file of before."""
        with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(value, file)
        os.rename(path + ".new", path)

    def keep(self):
        self.put(os.path.join(self.folder, "accounts.json"), [self.accounts, self.sessions])

    @staticmethod
    def hashed(password, salt=None):
        salt = salt or secrets.token_hex(16)
        return salt, hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), n=1 << 12, r=8, p=1).hex()

    def token(self, subject, header={}, key=None, **claims):
        """Signed as RFC 7518, 3.4 has it: R and S of 32 bytes each, which openssl writes as DER."""
        now = int(self.now())
        claims = {"iss": self.issuer, "aud": self.audience, "sub": subject, "iat": now, "exp": now + self.life, **claims}
        header = {"alg": "ES256", "typ": "JWT", "kid": self.public["kid"], **header}
        message = part(json.dumps(header).encode()) + "." + part(json.dumps(claims).encode())
        der, at, numbers = self.openssl("dgst", "-sha256", "-sign", key or self.key, said=message.encode()), 2, b""
        for _ in range(2):
            size = der[at + 1]
            numbers += der[at + 2:at + 2 + size].lstrip(b"\0").rjust(32, b"\0")
            at += 2 + size
        return message + "." + part(numbers)

    # What is asked: each answers with what TEXTS says, or what is to be sent.

    def sign_up(self, address, password):
        address = address.strip().lower()
        if not ADDRESS.fullmatch(address):
            raise Refused("E_EMAIL_INVALID")
        if len(password) < 6:
            raise Refused("E_PASSWORD_WEAK")
        with self.lock:
            if address in self.accounts:
                raise Refused("E_EMAIL_USED")
            self.accounts[address] = {"subject": "u-" + secrets.token_hex(8), "password": self.hashed(password)}
            self.keep()
        return "signed up"

    def sign_in(self, address, password):
        account = self.accounts.get(address.strip().lower())
        salt, known = account["password"] if account else self.nobody
        if not hmac.compare_digest(self.hashed(password, salt)[1], known) or not account:
            raise Refused("E_CREDENTIALS")
        refresh = secrets.token_urlsafe(24)
        with self.lock:
            self.sessions[hashlib.sha256(refresh.encode()).hexdigest()] = account["subject"]
            self.keep()
        return self.given(refresh)

    def given(self, refresh):
        subject = self.sessions.get(hashlib.sha256(refresh.encode()).hexdigest())
        if subject is None:
            raise Refused("E_SESSION")
        return {"id_token": self.token(subject), "refresh_token": refresh, "expires_in": self.life, "token_type": "Bearer"}

    def sign_out(self, refresh):
        with self.lock:
            self.sessions.pop(hashlib.sha256(refresh.encode()).hexdigest(), None)
            self.keep()

    def ask_reset(self, address):
        address = address.strip().lower()
        if address in self.accounts:
            code = secrets.token_urlsafe(12)
            self.codes[code] = (address, self.now() + 900)
            self.mail.append((address, code))
        return "mailed"

    def reset(self, code, password):
        address, until = self.codes.get(code, (None, 0))
        if self.now() > until:
            raise Refused("E_CODE")
        if len(password) < 6:
            raise Refused("E_PASSWORD_WEAK")
        del self.codes[code]
        with self.lock:
            account = self.accounts[address]
            account["password"] = self.hashed(password)
            self.sessions = {key: subject for key, subject in self.sessions.items() if subject != account["subject"]}
            self.keep()
        return "reset"

    # Over HTTP

    def serve(self, port=0):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.issuer, self.server.daemon_threads = self, True
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def settings(self):
        """What a node's configuration needs (docs/operating/access.md, "Tokens of an identity provider")."""
        return {"api": {"jwt": [{"name": "idp", "issuer": self.issuer, "audience": self.audience, "jwks_file": self.jwks, "uid": "{sub}"}]}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        issuer = self.server.issuer
        if self.path == "/sign-in":
            return self.answer(200, PAGE.encode(), "text/html; charset=utf-8")
        found = {"/jwks.json": {"keys": [issuer.public]}, "/.well-known/openid-configuration": {
            "issuer": issuer.issuer, "jwks_uri": issuer.issuer + "/jwks.json", "id_token_signing_alg_values_supported": ["ES256"]}}.get(self.path)
        self.answer(200 if found else 404, found or {})

    def do_POST(self):
        issuer, body = self.server.issuer, self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            told = json.loads(body or b"{}")
            address, password, refresh = (str(told.get(name, "")) for name in ("address", "password", "refresh_token"))
            ways = {"/sign-up": lambda: issuer.sign_up(address, password), "/sign-in": lambda: issuer.sign_in(address, password),
                    "/token": lambda: issuer.given(refresh), "/sign-out": lambda: issuer.sign_out(refresh), "/reset": lambda: issuer.ask_reset(address)}
            if self.path.startswith("/reset/"):
                ways[self.path] = lambda: issuer.reset(self.path[len("/reset/"):], password)
            if self.path not in ways:
                return self.answer(404, {})
            given = ways[self.path]()
        except Refused as error:
            return self.say(str(error), code=str(error))
        except (ValueError, AttributeError):
            return self.answer(400, {})
        if isinstance(given, str):
            return self.say(given)
        self.answer(200 if given else 204, given)

    def say(self, what, **more):
        status, korean, english = TEXTS[what]
        first = self.headers.get("Accept-Language", "ko").strip().lower()
        self.answer(status, {"text": korean if first.startswith("ko") else english, **more})

    def answer(self, status, body, form="application/json"):
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        for name, value in (("Content-Type", form), ("Content-Length", len(data)), ("Cache-Control", "no-store")):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    running = Issuer(sys.argv[1]).serve(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    print(json.dumps(running.settings(), indent=2), f"\nbrowsers: {running.issuer}/sign-in", flush=True)
    threading.Event().wait()
