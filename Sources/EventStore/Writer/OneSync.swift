/// A sync that happens once, for the first that needs it.
final class OneSync {
    private let waitForDisk: () throws(StoreError) -> Void
    private var outcome: Result<Void, StoreError>?

    init(_ waitForDisk: @escaping () throws(StoreError) -> Void) { self.waitForDisk = waitForDisk }

    func run() throws(StoreError) {
        if let outcome { return try outcome.get() }
        do throws(StoreError) {
            try waitForDisk()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
            throw error
        }
    }
}
