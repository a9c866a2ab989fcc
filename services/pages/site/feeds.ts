import Builder from 'fast-xml-builder';
import { textContent } from '../../../platform/http/page-headers.ts';
import type { Content } from '../../../platform/http/route.ts';
import { languageOf } from '../../../platform/language.ts';
import { stripInvisible } from '../../../platform/visible-text.ts';
import { feedPath } from '../../navigation.ts';
import type { Page } from '../view.ts';
import type { FeedEntry } from './feed-entries.ts';

export const ATOM = 'application/atom+xml';
export const JSON_FEED = 'application/feed+json';

const XML = new Builder({ ignoreAttributes: false, attributeNamePrefix: '@', textNodeName: '#' });

/** An entry that was taken down, and when (ISO 8601). */
export interface Tombstone {
  id: string;
  at: string;
}

/** A page as a feed. `path` is the feeds' path without suffix. */
export interface Feed {
  page: Page;
  path: string;
  entries: readonly FeedEntry[];
  gone: readonly Tombstone[];
  /** When the feed changed other than by an entry or a tombstone (ISO 8601). */
  changed: string;
}

/** When the feed changed: never earlier than it said before. */
function updatedAt({ entries, gone, changed }: Feed): string {
  const times = [...entries.map(({ updated }) => updated), ...gone.map(({ at }) => at)];
  return times.reduce((latest, at) => (at > latest ? at : latest), changed);
}

/** Characters of a text that XML 1.0 cannot hold; JSON refuses the other ones on their way in. */
const NOT_IN_XML = /[\ufffe\uffff]/g;
const inXml = (text: string): string => text.replaceAll(NOT_IN_XML, '\ufffd');

/** A text of an entry, with its language where the script proves it. */
const inLanguage = (text: string) => ({ '@xml:lang': languageOf(text), '#': inXml(text) });

/** A feed as Atom (RFC 4287), with tombstones (RFC 6721). */
export function atomFeed(feed: Feed, baseUrl: string): Content {
  const { page, path, entries, gone } = feed;
  const link = (rel: string, type: string, path: string) => ({
    '@rel': rel,
    '@type': type,
    '@href': baseUrl + path,
  });
  const text = XML.build({
    '?xml': { '@version': '1.0', '@encoding': 'utf-8' },
    feed: {
      '@xmlns': 'http://www.w3.org/2005/Atom',
      '@xmlns:at': 'http://purl.org/atompub/tombstones/1.0',
      id: baseUrl + path,
      title: inXml(stripInvisible(page.head.title)),
      updated: updatedAt(feed),
      link: [
        link('self', ATOM, feedPath(path, 'atom')),
        link('alternate', 'text/html', page.head.path),
      ],
      entry: entries.map((entry) => ({
        id: `urn:uuid:${entry.id}`,
        title: inLanguage(entry.title),
        updated: entry.updated,
        published: entry.published,
        author: { name: inLanguage(entry.author) },
        link: link('alternate', 'text/html', entry.path),
        content: { '@type': 'text', ...inLanguage(entry.text) },
      })),
      'at:deleted-entry': gone.map(({ id, at }) => ({ '@ref': `urn:uuid:${id}`, '@when': at })),
    },
  });
  return textContent(ATOM, text);
}

/** A feed as JSON Feed, version 1.1, with tombstones as an extension. */
export function jsonFeed({ page, path, entries, gone }: Feed, baseUrl: string): Content {
  const body = {
    version: 'https://jsonfeed.org/version/1.1',
    title: stripInvisible(page.head.title),
    home_page_url: baseUrl + page.head.path,
    feed_url: baseUrl + feedPath(path, 'json'),
    items: entries.map((entry) => ({
      id: `urn:uuid:${entry.id}`,
      url: baseUrl + entry.path,
      title: entry.title,
      language: languageOf(entry.text),
      content_text: entry.text,
      date_published: entry.published,
      date_modified: entry.updated,
      authors: [{ name: entry.author }],
    })),
    _deleted: gone.map(({ id, at }) => ({ id: `urn:uuid:${id}`, date_deleted: at })),
  };
  return textContent(JSON_FEED, JSON.stringify(body));
}
