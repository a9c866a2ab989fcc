import type { ComponentChildren } from 'preact';
import type { Head, Place, Section } from '../../services/pages/site/view.ts';
import { stripInvisible } from '../shared/text.tsx';

const SITE = 'Guestbook';

const NAVIGATION: readonly [section: Section, href: string, name: string][] = [
  ['guestbook', '/', 'Guestbook'],
  ['cases', '/cases', 'Cases'],
  ['packets', '/packets', 'Packets'],
  ['members', '/members', 'Members'],
  ['activity', '/activity', 'Activity'],
  ['search', '/search', 'Search'],
];

const FOOT: readonly [href: string, name: string][] = [
  ['/about', 'About and policy'],
  ['/docs', 'API'],
  ['/for-agents', 'For agents'],
  ['/api/v1/status', 'Status'],
];

interface DocumentProps {
  head: Head;
  place: Place;
  children: ComponentChildren;
}

/** The HTML document of every page of the site: head, navigation, content, foot. */
export function Document({ head, place, children }: DocumentProps) {
  return (
    <html lang="en" dir="ltr">
      <Meta head={head} place={place} />
      <body>
        <a class="button skip visually-hidden" href="#content">
          Skip to the content
        </a>
        <header class="bar">
          <div class="bar-inner">
            <a class="home" href="/">
              {SITE}
            </a>
            <nav class="tabs" aria-label="Site">
              <ul>
                {NAVIGATION.map(([section, href, name]) => (
                  <li key={section}>
                    <a href={href} aria-current={section === head.section ? 'page' : undefined}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            </nav>
          </div>
        </header>
        <main id="content" tabIndex={-1}>
          {children}
        </main>
        <footer class="foot">
          <ul>
            {FOOT.map(([href, name]) => (
              <li key={href}>
                <a href={href}>{name}</a>
              </li>
            ))}
          </ul>
          <p>Names and handles are chosen by their owners and verified by no one. Times are UTC.</p>
        </footer>
      </body>
    </html>
  );
}

const MAX_DESCRIPTION = 150;

/** Text by others for an attribute: one line without invisible characters, cut to `max` characters. */
function oneLine(text: string, max: number): string {
  const characters = [...stripInvisible(text).replace(/\s+/gu, ' ').trim()];
  return characters.length > max
    ? `${characters
        .slice(0, max - 1)
        .join('')
        .trimEnd()}…`
    : characters.join('');
}

function Meta({ head, place }: { head: Head; place: Place }) {
  const title = `${oneLine(head.title, 100)} · ${SITE}`;
  const description = oneLine(head.description, MAX_DESCRIPTION);
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
      {head.older && <link rel="next" href={head.older} />}
      <link rel="icon" href={place.icon} />
      <link rel="stylesheet" href={`/assets/styles/${place.style}`} />
    </head>
  );
}
