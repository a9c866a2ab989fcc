import '../site/site.css';
import './guestbook.css';
import { hydrate } from 'preact';
import type { LiveView, SiteInfo } from '../../services/pages/view.ts';
import { EXPERIENCES } from '../shared/display-names.ts';
import { Site } from '../site/frame.tsx';
import { GuestbookPage } from './page.tsx';

// Guestbooks had such addresses before they had pages of their own.
const moved = EXPERIENCES.find(({ id }) => location.pathname === '/' && location.hash === `#${id}`);
const place = document.getElementById('page');
const data = document.getElementById('view')?.textContent;
if (moved && moved.href !== '/') location.replace(moved.href);
else if (place && data) {
  const { view, site } = JSON.parse(data) as { view: LiveView; site: SiteInfo };
  hydrate(
    <Site.Provider value={site}>
      <GuestbookPage view={view} />
    </Site.Provider>,
    place,
  );
}
