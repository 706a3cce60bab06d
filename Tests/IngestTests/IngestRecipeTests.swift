import MediaBase
import Testing

@testable import Ingest

/// Recipes in YAML.
@Suite struct IngestRecipeTests {
    @Test func optionsAreThoseOfTheCommands() throws {
        let recipe = try IngestRecipe(
            yaml: """
                outputs:
                  poster: {at: 25%, best: true, square: false, width: 640}
                  peaks: {samples-per-pixel: [256, 4096], note: "true"}
                  page:
                fixity: true
                """, named: "house")
        #expect(recipe.name == "house" && recipe.hasFixity)
        #expect(recipe.entries.map(\.part) == [.poster, .peaks, .page])
        #expect(
            recipe.entries[0].options
                == [.init("at", "25%"), .init("best", nil), .init("width", "640")])
        // A text in quotes is a value, whatever it says.
        #expect(recipe.entries[1].options == [.init("samples-per-pixel", "256,4096"), .init("note", "true")])
        #expect(recipe.entries[2].options.isEmpty)
    }

    @Test(arguments: [
        ("", "line 1"), ("- probe", "line 1"), ("outputs:\n  posters: {}", "line 2"),
        ("outputs: {probe: {}}\nfixity: perhaps", "line 2"), ("outputs: {probe: {}}\nmore: 1", "line 2"),
        ("outputs:\n  qc: {policy: {a: 1}}", "line 2"), ("outputs:\n  qc: {--policy: web}", "line 2"),
        ("outputs: {}", "line 1"),
        ("outputs:\n  qc: [policy]", "line 2"), ("fixity: true", "line 1"),
    ])
    func mistakesAreNamedWithTheirLine(_ yaml: String, _ line: String) {
        #expect {
            _ = try IngestRecipe(yaml: yaml, named: "x")
        } throws: { error in
            guard let error = error as? MediaError else { return false }
            return error.code == .invalidArgument && error.message.hasPrefix(line)
        }
    }

    @Test func builtInRecipesHaveTheirParts() throws {
        for recipe in IngestRecipe.BuiltIn.allCases {
            let entries = try IngestRecipe(yaml: recipe.yaml, named: recipe.rawValue).entries.map(\.part)
            #expect(entries.contains(.probe) && entries.contains(.qc))
            #expect(entries.contains(.proxy) == [.web, .edit].contains(recipe), "\(recipe)")
            #expect(entries.contains(.page) == [.web, .archive].contains(recipe), "\(recipe)")
        }
        var recipe = try IngestRecipe(yaml: IngestRecipe.BuiltIn.web.yaml, named: "web")
        recipe.remove([.proxy, .page])
        #expect(!recipe.entries.contains { [.proxy, .page].contains($0.part) } && recipe.entries.count == 7)
    }
}
