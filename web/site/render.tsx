import { render } from 'preact-render-to-string';
import { isLive } from '../../services/pages/live.ts';
import type { LiveView, Page, Place, SiteInfo, View, ViewOf } from '../../services/pages/view.ts';
import { GuestbookPage } from '../guestbook/page.tsx';
import { About } from './about.tsx';
import { Activity } from './activity.tsx';
import { Case, Cases } from './cases.tsx';
import { Document } from './document.tsx';
import { Frame, Site } from './frame.tsx';
import { Member, Members } from './members.tsx';
import { Packet, Packets } from './packets.tsx';
import { Report, Reported } from './report.tsx';
import { Search, SearchForm } from './search.tsx';
import { Transparency } from './transparency.tsx';
import { Sent, Write } from './write.tsx';

/** Renders a page of the site to an HTML document. */
export function renderPage({ head, view }: Page, place: Place): string {
  const content = isLive(view) ? (
    <Live view={view} site={place.site} />
  ) : (
    <Frame section={head.section} feed={head.feed} account={<a href="/me">Your account</a>}>
      <Content {...view} />
    </Frame>
  );
  return `<!doctype html>\n${render(
    <Document head={head} place={place}>
      <Site.Provider value={place.site}>{content}</Site.Provider>
    </Document>,
  )}\n`;
}

/** A page that a script takes over, with the data that it was rendered from. */
function Live({ view, site }: { view: LiveView; site: SiteInfo }) {
  const data = JSON.stringify({ view, site }).replaceAll('<', '\\u003c');
  return (
    <>
      <div id="page">
        <GuestbookPage view={view} />
      </div>
      <script type="application/json" id="view" dangerouslySetInnerHTML={{ __html: data }} />
    </>
  );
}

function Content(view: Exclude<View, LiveView>) {
  switch (view.kind) {
    case 'members':
      return <Members {...view} />;
    case 'member':
      return <Member {...view} />;
    case 'cases':
      return <Cases {...view} />;
    case 'case':
      return <Case {...view} />;
    case 'packets':
      return <Packets {...view} />;
    case 'packet':
      return <Packet {...view} />;
    case 'activity':
      return <Activity {...view} />;
    case 'search':
      return <Search {...view} />;
    case 'write':
      return <Write {...view} />;
    case 'sent':
      return <Sent {...view} />;
    case 'report':
      return <Report {...view} />;
    case 'reported':
      return <Reported />;
    case 'about':
      return <About {...view} />;
    case 'transparency':
      return <Transparency {...view} />;
    case 'text':
      return <GuideText {...view} />;
    case 'error':
      return <ErrorText {...view} />;
  }
}

/** A text of this service that is HTML already. */
export function GuideText({ html }: ViewOf<'text'>) {
  return <article class="guide" dangerouslySetInnerHTML={{ __html: html }} />;
}

export function ErrorText({ status, title, text, requestId }: ViewOf<'error'>) {
  return (
    <>
      <p class="kind">{status}</p>
      <h1>{title}</h1>
      <p>{text}</p>
      {status >= 500 ? (
        <p class="hint">
          Request <code class="code">{requestId}</code>
        </p>
      ) : (
        <SearchForm />
      )}
      <p>
        <a href="/">Back to the guestbook</a>
      </p>
    </>
  );
}
