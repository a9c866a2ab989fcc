/** Address of a feed: its path without suffix, and maybe a query, with the suffix of a format. */
export function feedPath(feed: string, format: 'atom' | 'json'): string {
  const [path = '', query] = feed.split('?');
  return `${path}.${format}${query ? `?${query}` : ''}`;
}
