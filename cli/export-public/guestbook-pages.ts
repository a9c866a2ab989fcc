import { join } from 'node:path';
import type { Experience } from '../../domain/guestbook/words.ts';
import { type Markup, markup } from '../../platform/markup.ts';
import { stripInvisible } from '../../platform/visible-text.ts';
import type { Note } from '../../services/guestbook/contract.ts';
import { createOutputFile, type OutputFile } from './output-file.ts';

/** Threads on one page. */
const THREADS = 100;

const STYLE = `body{max-width:42rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}
article{margin:1.5rem 0;overflow-wrap:anywhere}article article{margin-left:1.5rem}
p{white-space:pre-wrap;margin:.25rem 0}footer,time{color:#555}@media(prefers-color-scheme:dark){
body{background:#111;color:#eee}a{color:#9cf}footer,time{color:#aaa}}`;

/** The beginning of each page. The policy lets a page load nothing, so no text can make it. */
const head = (title: string, language = 'en'): Markup => markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
`;

const FOOT = '</body>\n</html>\n';

const fileOf = (experience: Experience, page: number): string =>
  page === 1 ? `${experience}.html` : `${experience}-${page}.html`;

/** The opening of a note; its replies and `</article>` follow. */
function noteParts({ id, name, message, created_at, attribution }: Note): Markup {
  const written = new Date(created_at * 1000).toISOString();
  return markup`<article id="note-${id}">
<h2><bdi>${stripInvisible(name)}</bdi>${attribution === 'guest' ? ' (guest)' : ''}</h2>
<time datetime="${written}">${written.slice(0, 10)}</time>
<p dir="auto">${stripInvisible(message)}</p>
`;
}

/** Writes the pages of one guestbook, each note as it is given. */
export function createGuestbookPages(folder: string, experience: Experience) {
  const title = `Guestbook: ${experience}`;
  let file: OutputFile | undefined;
  let page = 0;
  let threads = 0;

  async function next(): Promise<OutputFile> {
    if (file && threads < THREADS) return file;
    const older = markup`<p><a href="${fileOf(experience, page + 1)}">Older notes</a></p>\n`;
    await file?.write(`${older.html}${FOOT}`);
    await file?.close();
    page += 1;
    threads = 0;
    file = createOutputFile(join(folder, fileOf(experience, page)));
    await file.write(head(page === 1 ? title : `${title}, page ${page}`).html);
    const newer =
      page === 1
        ? markup`<p><a href="index.html">All guestbooks</a></p>\n`
        : markup`<p><a href="${fileOf(experience, page - 1)}">Newer notes</a></p>\n`;
    await file.write(newer.html);
    return file;
  }

  return {
    async beginThread(note: Note): Promise<void> {
      await (await next()).write(noteParts(note).html);
      threads += 1;
    },
    reply: (note: Note): Promise<void> | undefined =>
      file?.write(`${noteParts(note).html}</article>\n`),
    endThread: (): Promise<void> | undefined => file?.write('</article>\n'),
    async close(): Promise<void> {
      const last = await next();
      await last.write(FOOT);
      await last.close();
    },
  };
}

/** Writes the page that links the guestbooks. */
export async function writeIndex(
  folder: string,
  from: string,
  exportedAt: Date,
  notes: ReadonlyMap<Experience, number>,
): Promise<void> {
  const file = createOutputFile(join(folder, 'index.html'));
  const links = [...notes].map(
    ([experience, count]) =>
      markup`<li><a href="${fileOf(experience, 1)}">${experience}</a>: ${count} notes</li>\n`,
  );
  await file.write(
    markup`${head('Guestbooks')}<ul>\n${links}</ul>
<footer>What was public at ${from} on ${exportedAt.toISOString()}.</footer>\n`.html,
  );
  await file.write(FOOT);
  await file.close();
}
