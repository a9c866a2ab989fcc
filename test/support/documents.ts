import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** The documents of the repository, by path. */
export const DOCUMENTS: ReadonlyMap<string, string> = new Map(
  globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
    .sort()
    .map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]),
);

/** The text without fenced code blocks. */
export const withoutCodeBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

/** The bodies of the fenced `sh` blocks, which readers paste as they stand. */
export const shellBlocks = (text: string): string[] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, body = '']) => body);

/** The anchors of a page's headings, made as GitHub makes them. */
export function headingAnchors(text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

/** Links to other places of the repository that lead nowhere. */
export function brokenLinks(path: string, text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"|href="([^"]+)"/g)]
    .map(([, link, source, address]) => link ?? source ?? address ?? '')
    .filter((link) => !/^(https?|mailto):/.test(link))
    .filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(ROOT, target))) return true;
      if (anchor === undefined) return false;
      return !headingAnchors(DOCUMENTS.get(target) ?? '').includes(anchor);
    });
}

const FOLDERS =
  /^(platform|domain|services|projections|workers|cli|web|client|migrations|harness|bench|proof|demo|test|docs|deploy|examples|\.ci)\//;

/** Paths of code in backticks that do not exist; `*` and `{a,b}` are patterns, `<name>` any name. */
export function missingPaths(text: string): string[] {
  return [...withoutCodeBlocks(text).matchAll(/`([^`\s]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => FOLDERS.test(path) && !path.includes('…'))
    .filter((path) => globSync(path.replace(/<[^>]+>/g, '*'), { cwd: ROOT }).length === 0);
}

/** Names in backticks that look like environment variables. */
export const namedVariables = (text: string): string[] =>
  [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
