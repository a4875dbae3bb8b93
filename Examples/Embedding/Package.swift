// swift-tools-version: 6.2
import PackageDescription

/// A program that uses Sillok as a library. In a package of your own the path is where you have put Sillok.
let package = Package(
    name: "embedding",
    dependencies: [.package(name: "sillok", path: "../..")],
    targets: [
        .executableTarget(
            name: "embedding",
            dependencies: [
                .product(name: "EventStore", package: "sillok"), .product(name: "SyncEngine", package: "sillok"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
