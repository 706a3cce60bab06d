internal import EmbeddedFiles

/// The policies that come with the program; they are read like any other.
package enum QCBuiltInPolicy: String, CaseIterable, Sendable {
    /// Whether browsers play a file well.
    case web
    /// Loudness for broadcasting in Europe.
    case ebuR128 = "ebu-r128"
    /// Whether anything is wrong that no programme wants.
    case content
    /// Whether it looks and sounds like a reference that is given.
    case reference

    /// Its text.
    package var yaml: String {
        switch self {
        case .web: EmbeddedFile.webPolicy.text
        case .ebuR128: EmbeddedFile.ebuR128Policy.text
        case .content: EmbeddedFile.contentPolicy.text
        case .reference: EmbeddedFile.referencePolicy.text
        }
    }
}
