internal import CCrypto
internal import CLinux
internal import CSQLite
internal import CLibuuid
enum Placeholder {}
