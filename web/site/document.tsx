import type { ComponentChildren } from 'preact';
import { toLine } from '../../platform/visible-text.ts';
import { feedPath } from '../../services/navigation.ts';
import type { Head, Place } from '../../services/pages/view.ts';

const MAX_TITLE = 80;
const MAX_DESCRIPTION = 150;

interface DocumentProps {
  head: Head;
  place: Place;
  children: ComponentChildren;
}

/** The HTML document around a page. */
export function Document({ head, place, children }: DocumentProps) {
  return (
    <html lang="en" dir="ltr">
      <Meta head={head} place={place} />
      <body>
        {place.site.notice && (
          <aside class="sandbox" aria-label="Sandbox">
            {place.site.notice}
          </aside>
        )}
        {children}
      </body>
    </html>
  );
}

function Meta({ head, place }: { head: Head; place: Place }) {
  const title = `${toLine(head.title, MAX_TITLE)} · ${toLine(place.site.name, MAX_TITLE)}`;
  const description = toLine(head.description, MAX_DESCRIPTION);
  const url = place.baseUrl + head.path;
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <meta name="description" content={description} />
      {head.hidden ? (
        <meta name="robots" content="noindex" />
      ) : (
        <>
          <link rel="canonical" href={url} />
          <meta property="og:title" content={title} />
          <meta property="og:description" content={description} />
          <meta property="og:type" content="website" />
          <meta property="og:url" content={url} />
        </>
      )}
      {head.alternates?.map((one) => (
        <link key={one.href} rel="alternate" type={one.type} href={one.href} title={one.title} />
      ))}
      {head.feed && (
        <>
          <link
            rel="alternate"
            type="application/atom+xml"
            href={feedPath(head.feed, 'atom')}
            title={title}
          />
          <link
            rel="alternate"
            type="application/feed+json"
            href={feedPath(head.feed, 'json')}
            title={title}
          />
        </>
      )}
      {head.older && <link rel="next" href={head.older} />}
      <link rel="icon" href={place.icon} />
      <link rel="stylesheet" href={`/assets/styles/${place.style}`} />
      {place.script && <script type="module" src={`/assets/scripts/${place.script}`} />}
    </head>
  );
}
