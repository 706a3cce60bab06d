// swift-tools-version: 6.2

import PackageDescription

// The project's own scripts set this, so that no warning stays. A dependent's build, or one with a newer compiler, does not
// fail because of a warning; that a newer FFmpeg deprecates something is never an error.
let strict: [SwiftSetting] =
    Context.environment["MEDIATOOL_WARNINGS_ARE_ERRORS"] == nil
    ? [] : [.treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning)]

// Every target is compiled alike: imports are internal unless said otherwise.
let common: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

// Above LibAV no code touches an unsafe construct; the compiler checks it.
let safe: [SwiftSetting] = common + [.strictMemorySafety()]

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")

// Programs that show the library; the tests build and run them. They are no products.
let examples: [Target] = ["JoinClips", "VolumeRamp", "RedBackground", "ArchiveMember"].map { name in
    .executableTarget(
        name: "Example" + name, dependencies: ["AssetKit", system], path: "docs/Examples/" + name,
        swiftSettings: common)
}

// The fuzzers of what is not a product: `scripts/fuzz` asks for them, and builds them with sanitizers.
let fuzzers: [Target] =
    Context.environment["MEDIATOOL_FUZZERS"] == nil
    ? []
    : [.target(name: "FuzzSupport", dependencies: [system], path: "Tests/Fuzz/FuzzSupport", swiftSettings: common)]
        + ["FuzzTimelines", "FuzzQC", "FuzzDrawing"].map { name in
            .executableTarget(
                name: name,
                dependencies: [
                    "FuzzSupport", "AssetKit", "MediaBase", "MediaJobs", "Pictures", "QualityControl", "Timelines",
                    system,
                ],
                path: "Tests/Fuzz/\(name)", swiftSettings: common)
        }

let package = Package(
    name: "mediatool",
    products: [
        .library(name: "AssetKit", targets: ["AssetKit"]),
        .library(name: "Peaks", targets: ["Peaks"]),
        .library(name: "MediaWorker", targets: ["MediaWorker"]),
        .executable(name: "mediatool", targets: ["mediatool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CFFmpeg", pkgConfig: "libavformat libavcodec libswscale libswresample libavutil",
            providers: [
                .apt(["libavformat-dev", "libavcodec-dev", "libswscale-dev", "libswresample-dev", "libavutil-dev"])
            ]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CPango", providers: [.apt(["libpangocairo-1.0-0"])]),

        .target(name: "MediaBase", swiftSettings: safe),
        .systemLibrary(name: "CSystemCalls"),
        .target(name: "CStartup"),
        .target(name: "CSampleKernels"),
        .target(name: "CEmbeddedFiles", exclude: ["pages", "policies", "recipes"]),
        .target(name: "EmbeddedFiles", dependencies: ["CEmbeddedFiles"], swiftSettings: common),
        .target(name: "SystemCalls", dependencies: ["CSystemCalls", system], swiftSettings: common),
        .target(name: "Threading", swiftSettings: common),
        .target(name: "CSandbox"),
        .target(name: "CCurl"),
        .target(
            name: "Network", dependencies: ["CCurl", "MediaBase", "SystemCalls", "Threading", system],
            swiftSettings: common),
        .target(name: "CRubberBand"),
        .target(name: "CZimg"),
        .target(name: "TimeStretching", dependencies: ["MediaBase", "CRubberBand"], swiftSettings: common),
        .target(
            name: "Isolation",
            dependencies: ["CSandbox", "MediaBase", "SystemCalls", "FileOutput", "Threading", system],
            swiftSettings: common),
        .target(
            name: "MediaWorker",
            dependencies: ["Isolation", "MediaBase", "SystemCalls", "FileOutput", "Threading", system],
            swiftSettings: safe),
        .target(
            name: "FileOutput", dependencies: ["MediaBase", "SystemCalls", "Threading", system], swiftSettings: safe),
        .target(
            name: "LibAV",
            dependencies: ["MediaBase", "SystemCalls", "Threading", "CFFmpeg", "CZimg", "CSampleKernels", system],
            swiftSettings: common),
        .target(name: "JSONText", dependencies: ["MediaBase"], swiftSettings: safe),
        .target(name: "ISOMedia", dependencies: ["MediaBase"], swiftSettings: safe),
        .target(name: "MatroskaMedia", dependencies: ["MediaBase"], swiftSettings: safe),
        .target(name: "Bitstreams", dependencies: ["MediaBase"], swiftSettings: safe),
        .target(name: "TextLayout", dependencies: ["MediaBase", "Threading", "CPango"], swiftSettings: common),
        .target(name: "Pictures", dependencies: ["MediaBase", "TextLayout", "CPNG"], swiftSettings: common),
        .target(name: "YAMLText", dependencies: ["MediaBase", "CYAML"], swiftSettings: common),
        .target(
            name: "ContainerFacts",
            dependencies: ["MediaBase", "LibAV", "ISOMedia", "MatroskaMedia", "Bitstreams"], swiftSettings: safe),
        .target(
            name: "AssetKit",
            dependencies: [
                "MediaBase", "SystemCalls", "Threading", "FileOutput", "Network", "LibAV", "ISOMedia", "MatroskaMedia",
                "Bitstreams", "ContainerFacts",
                "Pictures", "TextLayout",
                "MediaAnalysis", "TimeStretching", system,
            ],
            swiftSettings: safe),
        .target(
            name: "MediaAnalysis", dependencies: ["MediaBase", "Threading", "CSampleKernels"], swiftSettings: safe),
        .target(name: "Peaks", dependencies: ["MediaBase", "JSONText", "MediaAnalysis"], swiftSettings: safe),
        .target(
            name: "Inspection",
            dependencies: [
                "MediaBase", "SystemCalls", "Threading", "FileOutput", "AssetKit", "ContainerFacts", "Bitstreams",
                "MediaAnalysis", system,
            ],
            swiftSettings: safe),
        .target(
            name: "QualityControl",
            dependencies: [
                "MediaBase", "SystemCalls", "Threading", "AssetKit", "Inspection", "MediaAnalysis", "Pictures",
                "YAMLText",
                "JSONText", "EmbeddedFiles",
            ],
            swiftSettings: safe),
        .target(
            name: "Timelines",
            dependencies: [
                "MediaBase", "SystemCalls", "FileOutput", "Network", "JSONText", "AssetKit", "Inspection", system,
            ],
            swiftSettings: safe),
        .target(
            name: "MediaJobs",
            dependencies: [
                "MediaBase", "SystemCalls", "Threading", "FileOutput", "AssetKit", "Inspection", "Timelines",
                "Bitstreams", "Pictures", "TextLayout", "MediaAnalysis", "Peaks", "JSONText", system,
            ],
            swiftSettings: safe),
        .target(
            name: "Ingest",
            dependencies: [
                "MediaBase", "SystemCalls", "Threading", "FileOutput", "AssetKit", "Inspection", "MediaJobs",
                "QualityControl", "MediaAnalysis", "Peaks", "JSONText", "YAMLText", "EmbeddedFiles", system,
            ],
            swiftSettings: safe),
        .executableTarget(
            name: "mediatool",
            dependencies: [
                "MediaBase", "SystemCalls", "Threading", "AssetKit", "Inspection", "MediaJobs", "QualityControl",
                "Ingest",
                "MediaAnalysis", "Pictures", "TextLayout", "Peaks", "Timelines", "JSONText", "EmbeddedFiles",
                "Isolation", "Network", "CStartup",
                system,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: safe),

        .target(name: "TestSupport", dependencies: [system], path: "Tests/TestSupport", swiftSettings: common),
        // What the corpus check compares with ffmpeg's output; no product.
        .executableTarget(
            name: "mediacheck",
            dependencies: ["AssetKit", "Ingest", "MediaBase", "MediaJobs", "Peaks", "CFFmpeg", system],
            path: "Tests/MediaCheck", swiftSettings: common),
        // What a sandboxed process tries, for IsolationTests; no product.
        .executableTarget(
            name: "isolationcheck", dependencies: ["Isolation", "FileOutput", "MediaBase", "SystemCalls", system],
            path: "Tests/IsolationCheck",
            swiftSettings: common),
        .testTarget(
            name: "IsolationTests",
            dependencies: ["Isolation", "SystemCalls", "isolationcheck", "TestSupport", system],
            swiftSettings: common),
        // The helper whose jobs MediaWorkerTests runs; no product.
        .executableTarget(
            name: "mediaworkercheck", dependencies: ["MediaWorker", "AssetKit", "CSandbox", system],
            path: "Tests/MediaWorkerCheck",
            swiftSettings: common),
        .testTarget(
            name: "MediaWorkerTests", dependencies: ["MediaWorker", "mediaworkercheck", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "NetworkTests", dependencies: ["Network", "MediaBase", "TestSupport"], swiftSettings: common),
        .testTarget(name: "ThreadingTests", dependencies: ["Threading"], swiftSettings: common),
        .testTarget(name: "MediaBaseTests", dependencies: ["MediaBase", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "LibAVTests", dependencies: ["LibAV", "MediaBase", "TestSupport", system], swiftSettings: common),
        .testTarget(
            name: "ISOMediaTests", dependencies: ["ISOMedia", "MediaBase", "TestSupport"], swiftSettings: common),
        .testTarget(name: "MatroskaMediaTests", dependencies: ["MatroskaMedia", "MediaBase"], swiftSettings: common),
        .testTarget(name: "BitstreamsTests", dependencies: ["Bitstreams", "MediaBase"], swiftSettings: common),
        .testTarget(
            name: "FileOutputTests", dependencies: ["FileOutput", "MediaBase", "SystemCalls", system],
            swiftSettings: common),
        .testTarget(
            name: "TextLayoutTests", dependencies: ["TextLayout", "Pictures", "MediaBase", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "TimeStretchingTests", dependencies: ["TimeStretching", "MediaBase", "TestSupport"],
            swiftSettings: common),
        .testTarget(name: "PicturesTests", dependencies: ["Pictures", "TestSupport"], swiftSettings: common),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "MediaBase"], swiftSettings: common),
        .testTarget(name: "YAMLTextTests", dependencies: ["YAMLText", "MediaBase"], swiftSettings: common),
        .testTarget(name: "MediaAnalysisTests", dependencies: ["MediaAnalysis", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "ContainerFactsTests",
            dependencies: ["ContainerFacts", "LibAV", "ISOMedia", "MediaBase", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "PeaksTests", dependencies: ["Peaks", "MediaAnalysis", "TestSupport"], swiftSettings: common),
        .testTarget(
            name: "AssetKitTests", dependencies: ["AssetKit", "Peaks", "Threading", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "InspectionTests",
            dependencies: ["Inspection", "AssetKit", "MediaBase", "JSONText", "SystemCalls", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "QualityControlTests",
            dependencies: ["QualityControl", "Inspection", "MediaAnalysis", "JSONText", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "TimelinesTests",
            dependencies: ["Timelines", "AssetKit", "JSONText", "MediaBase", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "MediaJobsTests",
            dependencies: ["MediaJobs", "Peaks", "JSONText", "SystemCalls", "TestSupport", system],
            swiftSettings: common),
        .testTarget(
            name: "IngestTests",
            dependencies: [
                "Ingest", "AssetKit", "Inspection", "MediaBase", "FileOutput", "Peaks", "JSONText", "EmbeddedFiles",
                "TestSupport",
                system,
            ],
            swiftSettings: common),
        .testTarget(
            name: "MediaToolTests",
            dependencies: ["mediatool", "Peaks", "SystemCalls", "TestSupport", system]
                + examples.map { .target(name: $0.name) },
            swiftSettings: common),
    ] + examples + fuzzers,
    swiftLanguageModes: [.v6]
)
