import { type SourceComment, toTime } from './source.ts';
import { type XmlRecord, xmlRecords } from './xml-records.ts';

const MAX_LINK = 2000;
const SITE = 'rss/channel/wp:base_blog_url';
const LINK = 'rss/channel/item/link';
const COMMENT = 'rss/channel/item/wp:comment';

/** Reads the comments in an export of WordPress (WXR), which has them in the items that they are on. */
export async function* readWordpress(path: string): AsyncGenerator<SourceComment> {
  let [site, link] = ['', ''];
  for await (const record of xmlRecords(path, [SITE, LINK, COMMENT])) {
    if (record.path === SITE) site = record.text().trim().slice(0, MAX_LINK);
    else if (record.path === LINK) link = record.text().trim().slice(0, MAX_LINK);
    else yield toComment(record, site, link);
  }
}

function toComment(record: XmlRecord, site: string, thread: string): SourceComment {
  const field = (name: string) => record.text(`wp:comment_${name}`);
  const id = field('id').trim();
  const parent = field('parent').trim();
  return {
    ref: id,
    parent: parent === '' || parent === '0' ? null : parent,
    identity: [site, id],
    thread,
    name: field('author'),
    text: field('content'),
    html: true,
    writtenAt: toTime(field('date_gmt').trim()),
    state: stateOf(field('type').trim(), field('approved').trim()),
  };
}

function stateOf(type: string, approved: string): SourceComment['state'] {
  // Such as pingbacks, which the pages of other sites make.
  if (type !== '' && type !== 'comment') return 'no comment';
  if (approved === '1') return 'published';
  if (approved === 'spam') return 'spam';
  return approved === '0' ? 'pending' : 'deleted';
}
