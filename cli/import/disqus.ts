import type { SourceComment } from './source.ts';
import { toTime } from './source.ts';
import { type XmlRecord, xmlRecords } from './xml-records.ts';

const MAX_LINK = 2000;

/** Reads an export of Disqus: threads, and then the posts on them. */
export async function* readDisqus(path: string): AsyncGenerator<SourceComment> {
  const links = new Map<string, string>();
  for await (const record of xmlRecords(path, ['disqus/thread', 'disqus/post'])) {
    const id = record.attribute('dsq:id');
    if (record.path === 'disqus/thread') {
      links.set(id, record.text('link').slice(0, MAX_LINK));
      continue;
    }
    yield {
      ref: id,
      parent: record.attribute('dsq:id', 'parent') || null,
      // Disqus numbers the posts of all sites together.
      identity: [id],
      thread: links.get(record.attribute('dsq:id', 'thread')) ?? '',
      name: record.text('author/name'),
      text: record.text('message'),
      html: true,
      writtenAt: toTime(record.text('createdAt').trim()),
      state: stateOf(record),
    };
  }
}

function stateOf(post: XmlRecord): SourceComment['state'] {
  const says = (name: string, value: string) => post.text(name).trim() === value;
  if (says('isDeleted', 'true')) return 'deleted';
  if (says('isSpam', 'true')) return 'spam';
  return says('isApproved', 'false') ? 'pending' : 'published';
}
