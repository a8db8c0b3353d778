import { type Html, html } from './html.ts'

/** Loads no font and no image; light or dark by the system's color scheme. */
export const landingPageStyle: Html = html`
:root {
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d2530; --soft: #5d6875; --line: #e3e1da;
  --accent: #0f5e73; --wash: #eef4f5; --code: #f4f3ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12171c; --card: #181f26; --ink: #e4e9ee; --soft: #97a3b0; --line: #29323b;
    --accent: #74c3d6; --wash: #1b2a31; --code: #11161b;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 4px; }
code, .records { font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace; font-size: .875em; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; }
header, .columns, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3.5rem; padding-bottom: 2rem; }
.brand { display: flex; align-items: center; gap: .5rem; margin: 0; color: var(--accent); font-weight: 600; letter-spacing: .02em; }
h1 { margin: .75rem 0 .25rem; font-size: clamp(1.75rem, 5vw, 2.5rem); line-height: 1.15; letter-spacing: -.02em; font-weight: 650; overflow-wrap: anywhere; }
.lead { margin: 0; color: var(--soft); font-size: 1.0625rem; }
.columns { display: grid; grid-template-columns: 11rem minmax(0, 1fr); gap: 2.5rem; align-items: start; }
nav { position: sticky; top: 1.5rem; max-height: calc(100vh - 3rem); overflow-y: auto; }
nav ul { list-style: none; margin: 0; padding: 0; border-left: 1px solid var(--line); }
nav a { display: block; padding: .25rem 0 .25rem 1rem; margin-left: -1px; border-left: 1px solid transparent; color: var(--soft); text-decoration: none; overflow-wrap: anywhere; }
nav a:hover { color: var(--accent); border-left-color: var(--accent); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.5rem 1.75rem; margin-bottom: 1.5rem; scroll-margin-top: 1.5rem; }
section:target { border-color: var(--accent); }
.title { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: .25rem 1rem; margin-bottom: .75rem; }
h2 { margin: 0; font-size: 1.25rem; letter-spacing: -.01em; overflow-wrap: anywhere; }
.records { text-decoration: none; }
.records:hover { text-decoration: underline; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
thead th { font-size: .75rem; font-weight: 500; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: baseline; padding: .375rem 1rem .375rem 0; overflow-wrap: anywhere; }
tbody tr { border-top: 1px solid var(--line); }
tbody th { font-weight: 550; width: 30%; }
td { color: var(--soft); }
td:nth-child(2) { width: 24%; color: var(--ink); }
.key { color: var(--accent); background: var(--wash); border-radius: 4px; padding: 0 .375rem; font-size: .75rem; font-weight: 500; margin-left: .25rem; }
tbody tr:last-child { border-bottom: 1px solid var(--line); }
.timestamps { font-weight: 400; color: var(--soft); }
details { margin-top: 1.25rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9375rem; width: fit-content; }
ol { list-style: none; margin: .75rem 0 0; padding: 0; display: grid; gap: .75rem; }
ol span { display: block; color: var(--soft); font-size: .8125rem; margin-bottom: .25rem; }
ol code { display: block; background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; -webkit-user-select: all; cursor: copy; }
button { margin-top: .5rem; padding: .125rem .75rem; font: inherit; font-size: .875rem; color: var(--accent); background: var(--wash); border: 1px solid var(--line); border-radius: 6px; cursor: pointer; }
output { display: block; margin-top: .5rem; padding: .5rem .75rem; max-height: 20rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--accent); font-family: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace; font-size: .8125rem; }
output[hidden] { display: none; }
footer { padding-top: 1rem; padding-bottom: 4rem; color: var(--soft); font-size: .9375rem; }
footer p { margin: .5rem 0; }
@media (max-width: 46rem) {
  header { padding-top: 2rem; padding-bottom: 1.25rem; }
  header, .columns, footer { padding-left: 1rem; padding-right: 1rem; }
  .columns { grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
  nav { position: static; max-height: none; }
  nav ul { display: flex; flex-wrap: wrap; gap: .375rem; border: 0; }
  nav a { padding: .125rem .625rem; margin: 0; border: 1px solid var(--line); border-radius: 999px; font-size: .875rem; }
  section { padding: 1.125rem 1rem; border-radius: 10px; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tbody tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; padding: .375rem 0; }
  tbody th, td, td:nth-child(2) { width: auto; padding: 0; }
  td:nth-child(3) { grid-column: 1 / -1; font-size: .875rem; }
  td:empty { display: none; }
}
`
