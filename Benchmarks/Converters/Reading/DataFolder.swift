internal import Foundation

/// Finds the folder that holds one subfolder per set.
public enum DataFolder {
    /// `../shared/data` beside the package that contains the source file `file`; nil when it is not there.
    public static func find(from file: String = #filePath) -> String? {
        var folder = URL(fileURLWithPath: file).deletingLastPathComponent()
        while folder.path != "/" {
            let parent = folder.deletingLastPathComponent()
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
                let data = parent.appendingPathComponent("shared/data").path
                return FileManager.default.fileExists(atPath: data) ? data : nil
            }
            folder = parent
        }
        return nil
    }
}
