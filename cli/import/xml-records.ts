import { Parser } from 'htmlparser2';
import { fileText } from './file-text.ts';
import { MAX_COMMENT_CHARACTERS, MAX_KEPT_CHARACTERS, UnreadableExport } from './source.ts';

const MAX_DEPTH = 64;

/** An element of an export. Texts and attributes are by path below the element, whose own path is ''. */
export interface XmlRecord {
  /** The names from the root to the element. */
  path: string;
  text(below?: string): string;
  attribute(name: string, below?: string): string;
}

/**
 * Reads the elements at some paths, such as `disqus/post`, one at a time. Entities that a file declares are not
 * expanded. Throws `UnreadableExport` if the file has another root, is cut, is nested too deeply, or has an
 * element whose tag is too large.
 */
export async function* xmlRecords(
  file: string,
  paths: readonly string[],
): AsyncGenerator<XmlRecord> {
  const root = paths[0]?.split('/')[0];
  const found: XmlRecord[] = [];
  const names: string[] = [];
  let record: ReturnType<typeof createRecord> | undefined;
  let sinceTag = 0;
  let isRead = false;
  const below = () => names.slice(record?.depth).join('/');
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        sinceTag = 0;
        if (names.length === 0 && (name !== root || isRead))
          throw new UnreadableExport(`the root of the file is not ${root}`);
        names.push(name);
        if (names.length > MAX_DEPTH) throw new UnreadableExport('the XML is nested too deeply');
        const path = names.join('/');
        if (!record && paths.includes(path)) record = createRecord(path, names.length);
        record?.attributes.set(below(), attributes);
      },
      ontext(text) {
        sinceTag = 0;
        record?.add(below(), text);
      },
      onclosetag() {
        sinceTag = 0;
        if (record?.depth === names.length) {
          found.push(record);
          record = undefined;
        }
        names.pop();
        isRead ||= names.length === 0;
      },
    },
    { xmlMode: true },
  );
  for await (const chunk of fileText(file)) {
    sinceTag += chunk.length;
    if (sinceTag > MAX_COMMENT_CHARACTERS)
      throw new UnreadableExport(`a tag has more than ${MAX_COMMENT_CHARACTERS} characters`);
    parser.write(chunk);
    yield* found.splice(0);
  }
  if (!isRead) throw new UnreadableExport('the XML ends too early');
}

function createRecord(path: string, depth: number) {
  const texts = new Map<string, string>();
  const attributes = new Map<string, Readonly<Record<string, string>>>();
  return {
    path,
    depth,
    attributes,
    /** Adds to the text of an element, which the parser gives in pieces. */
    add(below: string, text: string): void {
      const former = texts.get(below) ?? '';
      const rest = MAX_KEPT_CHARACTERS - former.length;
      if (rest > 0) texts.set(below, former + text.slice(0, rest));
    },
    text: (below = ''): string => texts.get(below) ?? '',
    attribute: (name: string, below = ''): string =>
      (attributes.get(below)?.[name] ?? '').slice(0, MAX_KEPT_CHARACTERS),
  };
}
