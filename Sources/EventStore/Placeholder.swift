internal import CCrypto
internal import CLinux
internal import CSQLite
internal import CUUID
enum Placeholder {}
