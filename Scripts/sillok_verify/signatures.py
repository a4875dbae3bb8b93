"""Signatures (FORMATS.md, section 2, "A signature is valid"): Ed25519 as RFC 8032 has it.

`cryptography` compares R as 5.1.7 does without the cofactor, and refuses an S that is not below
the group's order. It takes keys and R of a small order, with which a signature may fit messages
that no one has signed. FORMATS.md refuses those, and encodings that are not canonical.
"""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PRIME = 2**255 - 19
# A point is encoded as its y, with the sign of x in the highest bit.
MASK_OF_Y = 2**255 - 1
# The points of order 1, 2 and 4 have the y 1, -1 and 0. Those of order 8 have this one and -this.
Y_OF_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7


def is_sound(point):
    """Whether an encoded point is canonical and of no small order."""
    if len(point) != 32:
        return False
    y = int.from_bytes(point, 'little') & MASK_OF_Y
    return 1 < y < PRIME - 1 and y not in (Y_OF_ORDER_8, PRIME - Y_OF_ORDER_8)


def is_signed(key, signature, text):
    """Whether the holder of a key (32 bytes) has signed a text with this signature (R and S)."""
    if len(signature) != 64 or not is_sound(key) or not is_sound(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True
