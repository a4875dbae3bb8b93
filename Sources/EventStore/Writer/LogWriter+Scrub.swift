// What is left of erased payloads beside the rows goes between two commits.
extension LogWriter {
    /// Overwrites what no row has, between two commits. After a failed write the page cache is not to be believed.
    func scrub(_ scrub: Scrub, _ committer: Committer) {
        do throws(StoreError) {
            let isDone = try committer.scrub(scrub.pages)
            putBack(committer)
            scrub.completion(.success(isDone))
        } catch {
            fail(error)
            putBack(committer)
            scrub.completion(.failure(error))
        }
    }

    /// Has the writer leave nothing of these pages but their rows; whether no reader was in the way.
    func scrub(_ pages: [Int64], completion: @escaping @Sendable (Result<Bool, StoreError>) -> Void) {
        var refusal: StoreError?
        queue.wakeOne { queue in
            refusal = queue.failure ?? (queue.isClosing ? .closed : nil)
            if refusal == nil { queue.scrubs.append(Scrub(pages: pages, completion: completion)) }
            return true
        }
        if let refusal { completion(.failure(refusal)) }
    }
}
