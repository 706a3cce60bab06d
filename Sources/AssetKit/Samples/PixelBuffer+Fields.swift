import LibAV
import MediaAnalysis
public import MediaBase

extension PixelBuffer {
    /// Whether the decoder says that the picture consists of two fields, taken one after the other.
    public var isInterlaced: Bool { frame.fieldOrder != nil }

    /// Whether the upper field is the first one; for an interlaced picture.
    package var isTopFieldFirst: Bool { frame.fieldOrder == .topFirst }

    /// The picture at the moment of its first field, without the comb that motion makes of two fields.
    ///
    /// The rows of the first field stay, and those of the other one as far as they fit between them. A picture that is
    /// not interlaced is returned as it is, and so are formats whose samples are no whole bytes in machine order.
    public func deinterlaced() throws(MediaError) -> PixelBuffer {
        guard let order = frame.fieldOrder else { return self }
        let layouts = (0..<frame.planeCount).map { frame.sampleLayout($0) }
        guard let first = layouts.first ?? nil, layouts.allSatisfy({ $0?.bytesPerSample == first.bytesPerSample })
        else { return self }
        let keepsTop = order == .topFirst
        func plane(_ index: Int, _ stride: Int) -> Deinterlacer.Plane {
            Deinterlacer.Plane(rows: frame.planeShape(index).rows, stride: stride, step: layouts[index]?.step ?? 1)
        }
        if first.bytesPerSample == 1 {
            return PixelBuffer(
                try frame.rewritten(as: UInt8.self) { index, row, target in
                    frame.withPlane(index, of: UInt8.self) { source, stride in
                        Deinterlacer.process(
                            row: row, of: source, plane(index, stride), keepsTop: keepsTop, into: &target)
                    }
                })
        }
        return PixelBuffer(
            try frame.rewritten(as: UInt16.self) { index, row, target in
                frame.withPlane(index, of: UInt16.self) { source, stride in
                    Deinterlacer.process(
                        row: row, of: source, plane(index, stride), keepsTop: keepsTop, into: &target)
                }
            })
    }
}
