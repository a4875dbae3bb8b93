public final class EventStore { public static let maximumBatch = 4096 }
