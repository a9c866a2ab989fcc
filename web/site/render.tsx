import { render } from 'preact-render-to-string';
import type { Page, Place, View } from '../../services/pages/site/view.ts';
import { About } from './about.tsx';
import { Activity } from './activity.tsx';
import { Case, Cases } from './cases.tsx';
import { Document } from './document.tsx';
import { Member, Members } from './members.tsx';
import { Packet } from './packet.tsx';
import { Packets } from './packets.tsx';
import { ErrorText, GuideText } from './plain.tsx';
import { Search } from './search.tsx';

/** Renders a page of the site to an HTML document. */
export function renderPage(page: Page, place: Place): string {
  return `<!doctype html>\n${render(
    <Document head={page.head} place={place}>
      <Content {...page.view} />
    </Document>,
  )}\n`;
}

function Content(view: View) {
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
    case 'about':
      return <About {...view} />;
    case 'text':
      return <GuideText {...view} />;
    case 'error':
      return <ErrorText {...view} />;
  }
}
