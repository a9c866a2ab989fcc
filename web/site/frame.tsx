import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { FOOT, feedPath, TABS } from '../../services/navigation.ts';
import type { Section, SiteInfo } from '../../services/pages/view.ts';
import { UserText } from '../shared/text.tsx';
import { LocalTimes, zoneName } from '../shared/time.tsx';

/** The operator's words and what the instance offers, for every part of a page. */
export const Site = createContext<SiteInfo>({
  name: '',
  notice: '',
  about: '',
  guestbooks: { service: '', observatory: '', 'two-clerks': '' },
  passkeys: false,
});

interface FrameProps {
  section: Section | undefined;
  /** Path of the page's feeds without their suffix. */
  feed: string | undefined;
  /** The right end of the head. */
  account: ComponentChildren;
  children: ComponentChildren;
}

/** What every page of the site has around its content. */
export function Frame({ section, feed, account, children }: FrameProps) {
  return (
    <>
      <a class="button skip visually-hidden" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <div class="bar-inner">
          <a class="home" href="/">
            <UserText text={useContext(Site).name} />
          </a>
          <div class="membership">{account}</div>
          <nav class="tabs" aria-label="Site">
            <ul>
              {TABS.map(([name, href, word]) => (
                <li key={name}>
                  <a
                    href={href}
                    data-word={word}
                    aria-current={name === section ? 'page' : undefined}
                  >
                    {word}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        </div>
      </header>
      <main id="content" class="column" tabIndex={-1}>
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
        {feed && (
          <p>
            Follow this page: <a href={feedPath(feed, 'atom')}>Atom</a>,{' '}
            <a href={feedPath(feed, 'json')}>JSON Feed</a>
          </p>
        )}
        <p>Names and handles are chosen by their owners and not verified.</p>
        <p>Times: {zoneName(useContext(LocalTimes))}</p>
      </footer>
    </>
  );
}
