// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Nearside",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [.library(name: "Nearside", targets: ["Nearside"])],
  targets: [
    // The C header that UniFFI generates, and the library `nearside` behind it.
    .systemLibrary(name: "NearsideFFI"),
    // What UniFFI generates, which is not ready for Swift 6 mode.
    .target(
      name: "NearsideBindings",
      dependencies: ["NearsideFFI"],
      path: "generated",
      exclude: ["NearsideFFI.h"],
      sources: ["NearsideBindings.swift"],
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    // The API that apps use.
    .target(name: "Nearside", dependencies: ["NearsideBindings"]),
    .testTarget(name: "NearsideTests", dependencies: ["Nearside"]),
  ],
  swiftLanguageModes: [.v6]
)
