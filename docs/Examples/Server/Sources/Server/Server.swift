// Thumbnails of uploads, whatever is in them.
//
//     swift run -c release Server &
//     curl --data-binary @film.mov 'http://127.0.0.1:8080/thumbnail?at=2.5&width=320' -o picture.png
//
// A file that crashes the decoder gets status 422, one that takes too long 504, and nobody else notices.
import FoundationEssentials
import HTTPTypes
import Hummingbird
import MediaWorker
import SystemPackage
import ThumbnailJob

@main
struct Server {
    static func main() async throws {
        var options = MediaJobPool.Options()
        options.timeout = .seconds(5)
        options.memoryBytes = 512 << 20
        // More than there are processors, so that a few files that hang hold nobody up.
        options.helperCount = 8
        let pool = try MediaJobPool(helper: MediaJobPool.program(besideThis: "MediaHelper"), options: options)

        let router = Router()
        router.post("thumbnail") { request, _ in
            let query = request.uri.queryParameters
            let upload = try await Upload(request.body)
            defer { upload.remove() }
            let question = ThumbnailRequest(
                path: upload.path, seconds: query.get("at", as: Double.self) ?? 0,
                width: query.get("width", as: Int.self) ?? 320)
            do {
                let thumbnail = try await pool.run(
                    .thumbnail, question, files: MediaJobFiles(inputs: [upload.path]))
                var response = Response(
                    status: .ok, headers: [.contentType: "image/png"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: thumbnail.picture)))
                if let name = HTTPField.Name("Actual-Time") { response.headers[name] = String(thumbnail.seconds) }
                return response
            } catch let error as MediaError {
                throw HTTPError(status(for: error), message: error.message)
            }
        }
        let port = ProcessInfo.processInfo.environment["PORT"].flatMap(Int.init) ?? 8080
        let server = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
        try await server.runService()
        await pool.shutDown()
    }

    /// Returns the status for a job that failed: the upload's fault, or the server's.
    static func status(for error: MediaError) -> HTTPResponse.Status {
        switch error.code {
        case .timedOut: .gatewayTimeout
        case .outOfResources, .inputOutput: .internalServerError
        case .cancelled: .serviceUnavailable
        default: .unprocessableContent
        }
    }
}
