#!/usr/bin/env python3
"""Writes jwt.json: tokens of an identity provider, good and bad, with what is to become of each (docs/operating/access.md).

Independent of the node's code: RFC 7515 and RFC 7518 by hand, over Python's 'cryptography' (Debian: python3-cryptography).
"""
import base64, hashlib, hmac, json, sys
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

def b64(data): return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
def number(value, length=None): return b64(value.to_bytes(length or (value.bit_length() + 7) // 8, "big"))

big, other, small = (rsa.generate_private_key(65537, size) for size in (2048, 2048, 1024))
curve = ec.generate_private_key(ec.SECP256R1())

def jwk(key, kid, **more):
    public = key.public_key().public_numbers()
    if isinstance(public, rsa.RSAPublicNumbers):
        return {"kty": "RSA", "kid": kid, "n": number(public.n), "e": number(public.e), **more}
    return {"kty": "EC", "crv": "P-256", "kid": kid, "x": number(public.x, 32), "y": number(public.y, 32), **more}

def sign(message, key, der=False):
    if isinstance(key, bytes): return hmac.digest(key, message, hashlib.sha256)
    if isinstance(key, rsa.RSAPrivateKey): return key.sign(message, padding.PKCS1v15(), hashes.SHA256())
    signature = key.sign(message, ec.ECDSA(hashes.SHA256()))
    if der: return signature
    r, s = decode_dss_signature(signature)
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")

def token(claims, key=big, header=None, **more):
    head = {"alg": "ES256" if key is curve else "RS256", "typ": "JWT", "kid": "e1" if key is curve else "r1"}
    head = {name: value for name, value in {**head, **(header or {})}.items() if value is not None}
    text = claims if isinstance(claims, str) else json.dumps(claims, ensure_ascii=False)
    message = b64(json.dumps(head).encode()) + "." + b64(text.encode())
    return message + "." + b64(more["raw"] if "raw" in more else sign(message.encode(), key, more.get("der", False)))

FAR = 4102444800  # 2100
good = {"iss": "https://id.example", "aud": "sillok", "sub": "u-7", "iat": 1700000000, "exp": FAR}
def claims(**more): return {name: value for name, value in {**good, **more}.items() if value is not None}

public = big.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
valid = token(good)
head, body, signature = valid.split(".")
flipped = b64(bytes([base64.urlsafe_b64decode(signature + "==")[0] ^ 1]) + base64.urlsafe_b64decode(signature + "==")[1:])
zero = b64(bytes(64))
es = token(good, curve)
twice = json.dumps(good)[:-1] + ', "sub": "u-8"}'
GOOD = {
    "RS256": valid,
    "ES256": es,
    "aud is a list": token(claims(aud=["x", "sillok"])),
    "at+jwt": token(good, header={"typ": "at+jwt"}),
    "no typ": token(good, header={"typ": None}),
    "a fraction of a second": token(claims(exp=FAR + 0.5)),
    "jku and jwk are not looked at": token(good, header={"jku": "https://evil.example/k", "jwk": jwk(other, "r1")}),
    "Korean subject": token(claims(sub="사용자")),
    "roles": token(claims(roles=["reader", "admin", "bot:x", "offline_access"])),
}
BAD = {
    "alg none": head.replace(head, b64(b'{"alg":"none"}')) + "." + body + ".",
    "alg none, with a signature": token(good, header={"alg": "none"}),
    "HS256 with the public key as the secret": token(good, public, header={"alg": "HS256", "kid": "r1"}),
    "RS256 of another key under the kid": token(good, other),
    "a kid that is unknown": token(good, header={"kid": "zz"}),
    "no kid among two RSA keys": token(good, header={"kid": None}),
    "kid of the other algorithm's key": token(good, curve, header={"kid": "r1"}),
    "RS384": token(good, header={"alg": "RS384"}),
    "PS256": token(good, header={"alg": "PS256"}),
    "a flipped bit in the signature": f"{head}.{body}.{flipped}",
    "claims changed": f"{head}.{b64(json.dumps(claims(sub='u-8')).encode())}.{signature}",
    "an empty signature": f"{head}.{body}.",
    "ES256 as DER": token(good, curve, der=True),
    "ES256 of zeros": ".".join(es.split(".")[:2] + [zero]),
    "another issuer": token(claims(iss="https://id.example/")),
    "no issuer": token(claims(iss=None)),
    "another audience": token(claims(aud="sillok2")),
    "no audience": token(claims(aud=None)),
    "audience in an object": token(claims(aud={"sillok": 1})),
    "expired": token(claims(exp=1700000100)),
    "no exp": token(claims(exp=None)),
    "exp as text": token(claims(exp=str(FAR))),
    "exp beyond all numbers": token(json.dumps(good).replace(str(FAR), "1e400")),
    "not yet valid": token(claims(nbf=FAR)),
    "made in the future": token(claims(iat=FAR)),
    "crit": token(good, header={"crit": ["exp"]}),
    "no subject": token(claims(sub=None)),
    "a subject that is a number": token(claims(sub=7)),
    "a subject with a line end": token(claims(sub="u\n7")),
    "a subject too long for an id": token(claims(sub="u" * 300)),
    "a claim twice": token(twice),
    "claims are no object": token('["iss"]'),
    "typ of another protocol": token(good, header={"typ": "dpop+jwt"}),
    "padding": f"{head}.{body}.{signature}=",
    "two parts": f"{head}.{body}",
    "four parts": valid + ".x",
    "five parts, as encrypted ones have": ".".join([head, "", "x", "y", "z"]),
    "9 KiB": token(claims(pad="x" * 9000)),
}
keys = {"keys": [jwk(big, "r1", use="sig", alg="RS256"), jwk(other, "r2"), jwk(curve, "e1", key_ops=["verify"]),
                 {"kty": "OKP", "crv": "Ed25519", "kid": "o1", "x": "AA"}, jwk(other, "enc", use="enc")]}
point = jwk(curve, "e1")
FILES = {
    "no JSON": "{", "a list": "[]", "no keys": '{"keys":[]}', "keys for other things": json.dumps({"keys": keys["keys"][3:]}),
    "1,024 bits": json.dumps({"keys": [jwk(small, "s")]}),
    "a point beside the curve": json.dumps({"keys": [{**point, "y": point["x"]}]}),
    "a private key": json.dumps({"keys": [{**jwk(big, "r1"), "d": "AQAB"}]}),
    "a shared secret": json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}),
    "one kid twice": json.dumps({"keys": [jwk(big, "r1"), jwk(other, "r1")]}),
    "an exponent of 1": json.dumps({"keys": [{**jwk(big, "r1"), "e": "AQ"}]}),
}
out = {"keys": keys, "renewed": {"keys": [jwk(other, "r9")]}, "after": token(good, other, header={"kid": "r9"}),
       "good": GOOD, "bad": BAD, "files": FILES}
json.dump(out, open(sys.argv[1], "w"), indent=1, ensure_ascii=False)
