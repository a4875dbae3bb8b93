/// Carries a value that belongs to one loop's thread through other threads, so that a posted job can reach it.
///
/// ## Concurrency model
/// `@unchecked Sendable`: the value is handed out on the loop thread only; other threads can do no more with it than
/// keep it alive. The last reference may be dropped on any thread, so the value's `deinit` must not touch the loop.
package struct LoopBound<Value>: @unchecked Sendable {
    package let loop: EventLoop
    let stored: Value

    fileprivate init(_ value: Value, loop: EventLoop) {
        stored = value
        self.loop = loop
    }

    /// The value. Loop thread only, checked.
    package var value: Value {
        loop.assertOnLoop()
        return stored
    }

    /// Runs `body` with the value on the loop thread. Any thread may call.
    /// - Returns: false when the loop has stopped; `body` is then dropped.
    @discardableResult
    package func post(_ body: @escaping @Sendable (Value) -> Void) -> Bool {
        loop.post { body(self.value) }
    }

    /// Runs `body` with the value on the loop thread at once when that is the caller's, and posts it otherwise.
    func perform(_ body: @escaping @Sendable (Value) -> Void) {
        if loop.isOnLoop { body(stored) } else { post(body) }
    }

    /// Runs `body` with the value on the loop thread and waits; see ``EventLoop/sync(_:)``.
    package func sync<Result: Sendable>(_ body: @escaping @Sendable (Value) -> Result) -> Result? {
        loop.sync { body(self.value) }
    }
}

extension EventLoop {
    /// Wraps a value of this loop for the journey through other threads. Loop thread only.
    package func bind<Value>(_ value: Value) -> LoopBound<Value> {
        assertOnLoop()
        return LoopBound(value, loop: self)
    }

    /// Makes an object on the loop thread and returns it wrapped. Blocks like ``sync(_:)``.
    /// - Returns: nil when the loop is not running.
    package func make<Value>(_ body: @escaping @Sendable () -> Value) -> LoopBound<Value>? {
        sync { LoopBound(body(), loop: self) }
    }
}
