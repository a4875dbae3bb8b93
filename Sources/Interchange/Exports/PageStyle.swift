internal import EventStore

/// The look of a page: paper and ink, light and dark, on a phone and in print. It loads nothing, and no rule depends on a script.
enum PageStyle {
    /// The policy of a page: nothing runs, nothing is loaded, and this style alone counts.
    static let policy: String = {
        let digest = SHA256().digest(Array(css.utf8))
        var bytes: [UInt8] = []
        digest.append(to: &bytes)
        let style = "style-src 'sha256-\(base64Text(bytes))'"
        return "default-src 'none'; \(style); img-src data:; base-uri 'none'; form-action 'none'"
    }()

    static let css = """

        :root { color-scheme: light dark;
          --paper: #faf8f3; --sheet: #ffffff; --wash: #f1ede3; --line: #e0d9ca;
          --ink: #1e1c19; --ink-2: #575146; --indigo: #27508c; --indigo-wash: #e6edf8; --seal: #a5301f; --ochre: #7d5508; }
        @media (prefers-color-scheme: dark) { :root {
          --paper: #14161a; --sheet: #1b1e23; --wash: #262b32; --line: #31363e;
          --ink: #ebe7de; --ink-2: #b9b3a6; --indigo: #9cbdf0; --indigo-wash: #1a2a44; --seal: #f09a86; --ochre: #e3b75a; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 -apple-system, "Apple SD Gothic Neo",
          "Segoe UI", "Malgun Gothic", "Noto Sans KR", "Noto Sans CJK KR", system-ui, sans-serif;
          word-break: keep-all; overflow-wrap: anywhere; }
        header, main, footer { max-width: 44rem; margin: 0 auto; padding: 1rem; }
        header { border-bottom: 1px solid var(--line); } footer { border-top: 1px solid var(--line); }
        h1 { font-size: 1.375rem; line-height: 1.3; margin: 0 0 .5rem; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: .125rem .75rem; margin: 0; font-size: .875rem; }
        dt { color: var(--ink-2); } dd { margin: 0; }
        .fine { font-size: .8125rem; color: var(--ink-2); margin: .5rem 0 0; }
        h2 { font-size: .875rem; font-weight: 600; color: var(--ink-2); margin: 1.5rem 0 .75rem; padding-bottom: .25rem;
          border-bottom: 1px solid var(--line); }
        article { max-width: 88%; width: fit-content; margin: 0 0 .75rem; padding: .5rem .75rem; background: var(--sheet);
          border: 1px solid var(--line); border-radius: 4px 12px 12px 12px; }
        article.own { margin-left: auto; background: var(--indigo-wash); border-radius: 12px 4px 12px 12px; }
        article:target { border-color: var(--indigo); border-width: 2px; }
        .who { margin: 0; font-size: .8125rem; color: var(--ink-2); }
        .who b { color: var(--ink); font-weight: 600; }
        .tag { border: 1px solid var(--line); border-radius: 4px; padding: 0 .25rem; font-size: .75rem; }
        .text { white-space: pre-wrap; unicode-bidi: plaintext; margin: .125rem 0 0; }
        .re { display: block; font-size: .8125rem; color: var(--ink-2); border-left: 3px solid var(--line); padding-left: .5rem;
          margin: .25rem 0; text-decoration: none; }
        .change { border-left: 3px solid var(--ochre); margin: .5rem 0 0; padding-left: .5rem; font-size: .875rem; }
        .change .text { color: var(--ink-2); }
        .note { margin: 0; color: var(--ochre); font-size: .8125rem; }
        .back > .text { text-decoration: line-through; color: var(--ink-2); }
        .back > .change { border-color: var(--seal); } .back > .change > .note { color: var(--seal); }
        .gone { font-style: italic; color: var(--ink-2); margin: .125rem 0 0; }
        figure { margin: .5rem 0 0; } img { max-width: 100%; height: auto; border-radius: 8px; display: block; }
        figcaption, .file { font-size: .8125rem; color: var(--ink-2); margin: .25rem 0 0; }
        .file p { margin: 0; } .file .text { color: var(--ink); font-size: .9375rem; }
        .event { font-size: .8125rem; color: var(--ink-2); text-align: center; margin: .75rem 0; }
        a { color: var(--indigo); }
        @media screen { article { content-visibility: auto; contain-intrinsic-size: auto 5rem; } }
        @media screen and (max-width: 30rem) { article { max-width: 94%; } header, main, footer { padding: .75rem; } }
        @media print { :root { --paper: #fff; --sheet: #fff; --wash: #fff; --line: #999; --ink: #000; --ink-2: #333; --indigo: #000;
          --indigo-wash: #fff; --seal: #000; --ochre: #000; }
          @page { margin: 18mm 16mm; } body { font-size: 10.5pt; line-height: 1.45; }
          header, main, footer { max-width: none; padding: 0; } header { padding-bottom: 4mm; }
          article { max-width: 100%; width: auto; border-width: 0 0 0 2px; border-radius: 0; padding: 0 0 0 3mm; }
          article.own { margin-left: 12mm; } .who, h2 { break-after: avoid; } .text { orphans: 3; widows: 3; }
          img { width: auto; max-height: 120mm; }
          a { text-decoration: none; } }

        """
}
