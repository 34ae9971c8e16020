import { t } from "../messages";
import { place } from "../page/place";
import { AllLeases, OneLease } from "./AllLeases";
import { MaintenanceList } from "./MaintenanceList";
import { Resources } from "./Resources";
import { Utilisation } from "./Utilisation";
import { Waiting } from "./Waiting";

const PARTS = ["waiting", "leases", "resources", "maintenance", "usage"] as const;
type PartName = (typeof PARTS)[number];

/** What only operators see. */
export default function Operators() {
  const [name, id] = place.value.detail.split("/");
  const part = PARTS.find((each) => each === name) ?? "waiting";
  return (
    <>
      <h1 class="hidden">{t.page.operators}</h1>
      <nav class="sub" aria-label={t.page.operators}>
        {PARTS.map((each) => (
          <a key={each} href={`#operators/${each}`} aria-current={each === part ? "page" : undefined}>
            {t.operators.parts[each]}
          </a>
        ))}
      </nav>
      <Content part={part} id={id} />
    </>
  );
}

function Content({ part, id }: { part: PartName; id: string | undefined }) {
  switch (part) {
    case "waiting":
      return <Waiting />;
    case "leases":
      return id ? <OneLease id={id} /> : <AllLeases />;
    case "resources":
      return <Resources />;
    case "maintenance":
      return <MaintenanceList />;
    case "usage":
      return <Utilisation />;
  }
}
