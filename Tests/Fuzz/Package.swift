// swift-tools-version: 6.2

import PackageDescription

// The fuzzers that need libav, apart from the package: all of a program has to be built with the sanitizers in it.
// `scripts/fuzz` builds and runs them.
let package = Package(
    name: "fuzz",
    dependencies: [
        .package(name: "mediatool", path: "../.."),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "FuzzSupport", dependencies: [.product(name: "SystemPackage", package: "swift-system")],
            path: "FuzzSupport")
    ]
        + ["FuzzReading", "FuzzImages", "FuzzExport"].map { name in
            .executableTarget(
                name: name,
                dependencies: [
                    "FuzzSupport",
                    .product(name: "AssetKit", package: "mediatool"),
                    .product(name: "SystemPackage", package: "swift-system"),
                ], path: name)
        },
    swiftLanguageModes: [.v6]
)
