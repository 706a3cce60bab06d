import FoundationEssentials
import Isolation
import MediaBase

/// The forms in which a pool and its helpers tell each other about jobs.
enum JobCoding {
    /// A job's name, with its request as JSON.
    struct Request {
        var name: String
        var body: [UInt8]

        init(name: String, body: [UInt8]) {
            self.name = name
            self.body = body
        }

        /// The message of the request.
        var message: [UInt8] {
            var writer = MessageWriter()
            writer.write(name)
            writer.write(body)
            return writer.bytes
        }

        /// Reads a request from a message.
        init(_ message: [UInt8]) throws(MessageReader.Invalid) {
            var reader = MessageReader(message)
            name = try reader.text()
            body = try reader.bytes()
        }
    }

    /// Returns the message of a result: its JSON, or the error.
    static func message(_ result: Swift.Result<[UInt8], MediaError>) -> [UInt8] {
        var writer = MessageWriter()
        switch result {
        case .success(let body):
            writer.write(true)
            writer.write(body)
        case .failure(let error):
            writer.write(false)
            writer.write(error)
        }
        return writer.bytes
    }

    /// Returns the result in a message, which may be hostile.
    static func result(_ message: [UInt8]) -> Swift.Result<[UInt8], MediaError> {
        do throws(MessageReader.Invalid) {
            var reader = MessageReader(message)
            return try reader.condition() ? .success(try reader.bytes()) : .failure(try reader.error())
        } catch {
            return .failure(.nonsense)
        }
    }

    /// Returns the message with which a helper says which jobs it knows.
    static func greeting(_ names: [String]) -> [UInt8] {
        var writer = MessageWriter()
        writer.write(names) { $0.write($1) }
        return writer.bytes
    }

    /// Returns the names in a greeting, which may be hostile.
    static func names(in greeting: [UInt8]) throws(MessageReader.Invalid) -> Set<String> {
        var reader = MessageReader(greeting)
        return Set(try reader.list { reader throws(MessageReader.Invalid) in try reader.text() })
    }

    /// Returns a value as JSON.
    static func encode(_ value: some Encodable) throws(MediaError) -> [UInt8] {
        do {
            // A bare value, such as a number, is JSON too.
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw MediaError(.invalidArgument, "cannot be written as JSON", cause: String(describing: error))
        }
    }

    /// Returns the value that JSON stands for.
    static func decode<Value: Decodable>(_ body: [UInt8]) throws(MediaError) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(body))
        } catch {
            throw MediaError(.invalidArgument, "is not JSON of this type", cause: String(describing: error))
        }
    }
}
