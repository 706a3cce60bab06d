// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who depends on AssetKit resolves the packages of a web server.
let package = Package(
    name: "Server",
    dependencies: [
        .package(name: "mediatool", path: "../../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "ThumbnailJob",
            dependencies: [
                .product(name: "MediaWorker", package: "mediatool"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .executableTarget(
            name: "MediaHelper",
            dependencies: [
                "ThumbnailJob",
                .product(name: "AssetKit", package: "mediatool"),
                .product(name: "MediaWorker", package: "mediatool"),
            ]),
        .executableTarget(
            name: "Server",
            dependencies: [
                "ThumbnailJob", "MediaHelper",
                .product(name: "MediaWorker", package: "mediatool"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
    ]
)
