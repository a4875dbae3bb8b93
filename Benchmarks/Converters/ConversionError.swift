/// Why a dataset could not be converted.
public enum ConversionError: Error, Equatable, CustomStringConvertible {
    /// A file or folder cannot be read; `reason` is the system's text.
    case unreadable(path: String, reason: String)
    /// A file does not have the shape its README describes.
    case malformed(path: String, detail: String)
    /// A program needed to unpack the set is not installed; `package` is the Debian package that has it.
    case missingProgram(name: String, package: String)
    /// A program ran and failed; `status` is its exit status, or 128 plus the signal that ended it.
    case programFailed(name: String, status: Int32)

    /// One line for people, naming the file or program and the remedy where there is one.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .malformed(let path, let detail): "\(path): \(detail)"
        case .missingProgram(let name, let package):
            "the program \(name) is not installed; try: apt-get install \(package)"
        case .programFailed(let name, let status): "\(name) failed with status \(status)"
        }
    }
}
