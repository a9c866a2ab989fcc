/** The style of the page for operators, in the colours of all pages (web/shared/base.css). It loads nothing. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #fbf9f5; --raised: #fff; --ink: #211e1a; --muted: #5f5850;
  --line: #ddd6ca; --accent: #9a3f17; --link: #1f4e79; --look: #7a5200; --look-wash: #f8edd4; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #171512; --raised: #201d1a; --ink: #ece7df; --muted: #b3aba0; --line: #37322c;
    --accent: #f0a27a; --link: #9cc3ea; --look: #e8bd62; --look-wash: #322711; }
}
*, *::before, *::after { box-sizing: border-box; }
html { text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, main, footer { max-inline-size: 60rem; margin-inline: auto; padding: 1rem; }
h1, h2, p, ul, dl, dd { margin: 0; padding: 0; }
h1, h2 { line-height: 1.25; font-weight: 600; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.125rem; }
a { color: var(--link); text-underline-offset: 0.2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
header p, .hint, footer { color: var(--muted); font-size: 0.875rem; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin-block-start: 0.75rem; list-style: none; }
nav a { display: inline-block; padding-block: 0.25rem; }
.warnings { margin-block-end: 1.5rem; padding: 0.75rem 1rem; background: var(--look-wash); color: var(--look);
  border-radius: 0.5rem; }
.warnings a { color: inherit; }
.warnings ul { padding-inline-start: 1.25rem; }
section { margin-block-end: 1.5rem; padding: 1rem; background: var(--raised); border: 1px solid var(--line);
  border-radius: 0.5rem; }
dl { display: grid; grid-template-columns: minmax(0, 18rem) minmax(0, 1fr); gap: 0.25rem 1rem;
  margin-block-start: 0.75rem; }
dt { color: var(--muted); }
.scroll { margin-block-start: 1rem; overflow-x: auto; }
table { border-collapse: collapse; inline-size: 100%; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { padding-block-end: 0.25rem; text-align: start; font-weight: 600; }
th, td { padding: 0.25rem 1rem 0.25rem 0; border-block-start: 1px solid var(--line); text-align: start;
  vertical-align: top; font-weight: 400; }
thead th { border: 0; color: var(--muted); font-size: 0.875rem; white-space: nowrap; }
.hint { margin-block-start: 0.75rem; }
@media (max-width: 36rem) {
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-block-end: 0.5rem; }
}
`;
