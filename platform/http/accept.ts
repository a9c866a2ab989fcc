/** The quality that `Accept` gives a media type, by the most specific range; 0 without any. */
function qualityOf(ranges: ReadonlyMap<string, number>, type: string): number {
  const [kind] = type.split('/');
  return ranges.get(type) ?? ranges.get(`${kind}/*`) ?? ranges.get('*/*') ?? 0;
}

/** The quality of each entry of `Accept` or `Accept-Encoding`, by its name in lower case. */
export function readQualities(header: string): Map<string, number> {
  const qualities = new Map<string, number>();
  for (const entry of header.split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    // A quality that is not a number counts as 0, a refusal.
    qualities.set(name, quality === undefined ? 1 : Number(quality.slice(2)) || 0);
  }
  return qualities;
}

/**
 * Whether a caller prefers a media type to HTML: `Accept` names the type itself, and gives it no lower quality than
 * HTML. A range such as `text/*`, which browsers and many programs send, means HTML.
 */
export function prefersToHtml(type: string, accept = ''): boolean {
  const ranges = readQualities(accept);
  const quality = ranges.get(type) ?? 0;
  return quality > 0 && quality >= qualityOf(ranges, 'text/html');
}

/** Whether a caller prefers Markdown to HTML. */
export const prefersMarkdown = (accept?: string): boolean => prefersToHtml('text/markdown', accept);
