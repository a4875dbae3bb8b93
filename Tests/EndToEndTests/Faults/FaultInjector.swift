import Foundation
import TestSupport

/// Makes the disk fail under a program: a library that is put before the system's (`LD_PRELOAD`), made by the machine's own
/// C compiler. What fails is chosen while the program runs; every write and sync of a store's files is recorded.
///
/// A fault is a file `CALL.NAME` in ``folder``, with the number of the error in it: from then on the call fails for files of that name.
final class FaultInjector {
    static let compiler = "/usr/bin/gcc"
    /// Why a test with faults cannot run here.
    static let isMissing = !FileManager.default.isExecutableFile(atPath: compiler)

    let folder = TemporaryFolder()
    private var library: String { folder.file("faults.so") }
    private var record: String { folder.file("record") }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let source = try folder.write(Data(Self.source.utf8), to: "faults.c")
        let process = Process()
        process.executableURL = URL(filePath: Self.compiler)
        process.arguments = ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }

    /// What a program needs to be under it.
    var environment: [String: String] { ["LD_PRELOAD": library, "FAULTS": folder.path] }

    /// From now on `call` fails for files named `name`.
    func fail(_ call: String, of name: String, error: Int32 = EIO) throws {
        try Data("\(error)".utf8).write(to: URL(filePath: folder.file("\(call).\(name)")), options: .atomic)
    }

    /// Everything works again.
    func mend() throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasPrefix("f") || file.hasPrefix("p") {
            if !file.hasPrefix("faults.") { try FileManager.default.removeItem(atPath: folder.file(file)) }
        }
    }

    struct Call: Equatable {
        let call: String
        let file: String
        let offset: Int
        let count: Int
        let result: Int
    }

    /// What was recorded since the last ``forget()``, in order.
    var calls: [Call] {
        let text = (try? String(contentsOfFile: record, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 5, let offset = Int(words[2]), let count = Int(words[3]), let result = Int(words[4])
            else { return nil }
            return Call(call: words[0], file: words[1], offset: offset, count: count, result: result)
        }
    }

    func forget() { try? FileManager.default.removeItem(atPath: record) }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>

        static const char *name_of(int fd, char *buffer, size_t size) {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t count = readlink(link, buffer, size - 1);
            if (count < 0) return "";
            buffer[count] = 0;
            char *slash = strrchr(buffer, '/');
            return slash ? slash + 1 : buffer;
        }

        static int fault(const char *call, const char *name) {
            char path[600], text[16] = {0};
            const char *folder = getenv("FAULTS");
            if (!folder || !*name) return 0;
            snprintf(path, sizeof path, "%s/%s.%s", folder, call, name);
            int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
            if (fd < 0) return 0;
            ssize_t count = syscall(SYS_read, fd, text, sizeof text - 1);
            syscall(SYS_close, fd);
            return count > 0 ? atoi(text) : EIO;
        }

        static void record(const char *call, const char *name, long offset, long count, long result) {
            char path[600], line[800];
            const char *folder = getenv("FAULTS");
            int kept = errno;
            if (!folder || !*name || strchr(name, ' ')) return;
            snprintf(path, sizeof path, "%s/record", folder);
            int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
            if (fd >= 0) {
                int length = snprintf(line, sizeof line, "%s %s %ld %ld %ld\n", call, name, offset, count, result);
                syscall(SYS_write, fd, line, length);
                syscall(SYS_close, fd);
            }
            errno = kept;
        }

        static int is_ours(const char *name) {
            return strncmp(name, "log.db", 6) == 0 || strncmp(name, "views.", 6) == 0
                || strncmp(name, "subs.db", 7) == 0;
        }

        static int sync_call(const char *call, long number, int fd) {
            char buffer[600];
            const char *name = name_of(fd, buffer, sizeof buffer);
            int code = is_ours(name) ? fault(call, name) : 0;
            long result = code ? (errno = code, -1) : syscall(number, fd);
            struct stat status;
            if (is_ours(name)) record(call, name, 0, 0, result);
            else if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) record("sync-folder", name, 0, 0, result);
            return result;
        }
        int fdatasync(int fd) { return sync_call("fdatasync", SYS_fdatasync, fd); }
        int fsync(int fd) { return sync_call("fsync", SYS_fsync, fd); }

        ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
            char buffer[600];
            const char *name = name_of(fd, buffer, sizeof buffer);
            int code = is_ours(name) ? fault("pwrite", name) : 0;
            long result = code ? (errno = code, -1) : syscall(SYS_pwrite64, fd, bytes, count, offset);
            if (is_ours(name)) record("pwrite", name, offset, count, result);
            return result;
        }
        ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

        ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
            char buffer[600];
            const char *name = name_of(fd, buffer, sizeof buffer);
            int code = is_ours(name) ? fault("pread", name) : 0;
            return code ? (errno = code, -1) : syscall(SYS_pread64, fd, bytes, count, offset);
        }
        ssize_t pread(int fd, void *bytes, size_t count, off_t offset) { return pread64(fd, bytes, count, offset); }

        int ftruncate64(int fd, off64_t length) {
            char buffer[600];
            const char *name = name_of(fd, buffer, sizeof buffer);
            long result = syscall(SYS_ftruncate, fd, length);
            if (is_ours(name)) record("ftruncate", name, length, 0, result);
            return result;
        }
        int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

        static const char *last(const char *path) {
            const char *slash = strrchr(path, '/');
            return slash ? slash + 1 : path;
        }
        int unlink(const char *path) {
            long result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
            if (result == 0) record("unlink", last(path), 0, 0, 0);
            return result;
        }
        int rename(const char *from, const char *to) {
            long result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
            if (result == 0) record("rename", last(to), 0, 0, 0);
            return result;
        }
        int mkdir(const char *path, mode_t mode) {
            long result = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
            if (result == 0) record("mkdir", last(path), 0, 0, 0);
            return result;
        }

        int listen(int fd, int backlog) {
            record("listen", "socket", 0, 0, 0);
            return syscall(SYS_listen, fd, backlog);
        }
        """#
}
