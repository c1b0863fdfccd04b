PRAGMA application_id = 1667786349;
BEGIN TRANSACTION;
CREATE TABLE aliases (
	graph INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	variable INTEGER NOT NULL, 
	PRIMARY KEY (graph, name), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "aliases" VALUES(1,'weight',0,11);
INSERT INTO "aliases" VALUES(2,'weight',0,11);
CREATE TABLE caches (
	graph INTEGER NOT NULL, 
	bytes BLOB NOT NULL, 
	PRIMARY KEY (graph), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "caches" VALUES(1,X'78017D8F6D4FC23010C7B7C114F914CDBDAE400744F1BDF1432C64294BB735D93AD67528183FBBDEE1669044DBFCDBDEF5774FEF90D5B6920E9E048783B45AEE4AD5A2157170CA56F8DC70C864EA6A4B6EA48CAC888046B02662552258A94CEE0A7652B666852C33B6ABD16CB5499049EB36F9B69B4E5AC5B43928DB2A56BC240238A4B5CA329D6A651C255DCCD64CB07BC1221645F307B6993D12A5CDBEA3FF385E7068802FB8E9CA72CB63EC074D3198D8F55E5A6C107B278AF20162CB5F7E0C12F3256CB71C64A9654BE3C431BC2A9D170EB309FAA93B37D484DCCA837647E0714435055F214003D0141115006594CD89406383BFCFE7F438B271DAE9BE82A291E325222BBEE684A1277963741ECFE709C33EA641E0FB9E370EC37138F6FE580878A40035EADF17B01F7813EFF39F8521DE0D8A108AA79B7CD76BA831F889A535DCD77D500F21EA326E60061FF54C1AFCF8FCE129EF6DAF09DEC4917D879AA2FCF30ECEE7A8B77CEF0BB1B59FEB');
INSERT INTO "caches" VALUES(2,X'78017D8F6D4FC23010C7B7C114F914CDBDAE400704F1BDF1432C64A94BB735D93AD67528183FBBDEE1669044DBFCDBDEF5774FEF90D5B6920E1E058783B45ABE94AA452BE2E094ADF0B9E590C9D4D596DC48195911018D604DC4AA44B05299DC15ECA46CCD0A5966ECA546B3D5264126ADDBE4DB6E3A6915D3E6A06CAB58F19C08E090D62ACB74AA95719474315B33C1EE058B5814CD376C3B7B204A9B7D47FF71BCE0D0005F70D395E58EC7D80F9A6230B1EBBDB4D820F64E14E6DB0062CB5F7E0C12F325EC761C64A9654BE3C431BC2A9D170EB309FAA93B37D484DCCA837647E0714435055F214003D0141115006594CD8940638BBF4FE7F438B271DAE9BE82A291E325222BBEE684A1277963741ECFE709C33EA641E0FB9E370EC37138F6FE580878A40035EADF17B01F7813EFF39F8521DE0D8A108AA79B7CD76BA831F889A535DCD77D500F21EA326E60061FF54C1AFCF8FCE129EF6DAF09DEC4917D879AA2FCF30ECEE7A8B77CEF0BB5819FED');
CREATE TABLE expanded_factors (
	graph INTEGER NOT NULL, 
	variable INTEGER NOT NULL, 
	form VARCHAR(16) NOT NULL, 
	term INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	symbol TEXT NOT NULL, 
	power INTEGER NOT NULL, 
	PRIMARY KEY (graph, variable, form, term, place), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',0,0,'sin(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',0,1,'cos(q1)',3);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',0,2,'cos(q2)',3);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',1,0,'sin(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',1,1,'cos(q1)',3);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',1,2,'cos(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',2,0,'sin(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',2,1,'cos(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',2,2,'cos(q2)',3);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',3,0,'sin(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',3,1,'cos(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',3,2,'cos(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',4,0,'sin(q1)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',4,1,'length',2);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',5,0,'cos(q1)',4);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',5,1,'sin(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',5,2,'cos(q2)',2);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',6,0,'cos(q1)',4);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',6,1,'sin(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',7,0,'cos(q1)',2);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',7,1,'sin(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',7,2,'cos(q2)',2);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',8,0,'cos(q1)',2);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',8,1,'sin(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',9,0,'sin(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',9,1,'cos(q2)',2);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',10,0,'sin(q2)',1);
INSERT INTO "expanded_factors" VALUES(1,9,'trig split',11,0,'m_1',1);
CREATE TABLE expanded_terms (
	graph INTEGER NOT NULL, 
	variable INTEGER NOT NULL, 
	form VARCHAR(16) NOT NULL, 
	place INTEGER NOT NULL, 
	coefficient TEXT NOT NULL, 
	value DOUBLE, 
	PRIMARY KEY (graph, variable, form, place), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',0,'88/7',1.25714285714285711748e+01);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',1,'-66/7',-9.42857142857142882519e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',2,'-66/7',-9.42857142857142882519e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',3,'66/7',9.42857142857142882519e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',4,'2',2.0);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',5,'88/7',1.25714285714285711748e+01);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',6,'-22/7',-3.1428571428571427937e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',7,'-110/7',-1.57142857142857135239e+01);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',8,'44/7',6.2857142857142855874e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',9,'22/7',3.1428571428571427937e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',10,'-22/7',-3.1428571428571427937e+00);
INSERT INTO "expanded_terms" VALUES(1,9,'trig split',11,'-1',-1.0);
CREATE TABLE expansions (
	graph INTEGER NOT NULL, 
	variable INTEGER NOT NULL, 
	form VARCHAR(16) NOT NULL, 
	terms INTEGER NOT NULL, 
	PRIMARY KEY (graph, variable, form), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "expansions" VALUES(1,9,'trig split',12);
CREATE TABLE factors (
	graph INTEGER NOT NULL, 
	owner INTEGER NOT NULL, 
	term INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	variable INTEGER NOT NULL, 
	power SMALLINT NOT NULL, 
	PRIMARY KEY (graph, owner, term, place)
)
 WITHOUT ROWID

;
INSERT INTO "factors" VALUES(1,6,0,0,0,1);
INSERT INTO "factors" VALUES(1,6,1,0,1,1);
INSERT INTO "factors" VALUES(1,9,0,0,2,1);
INSERT INTO "factors" VALUES(1,9,1,0,3,2);
INSERT INTO "factors" VALUES(1,9,1,1,7,1);
INSERT INTO "factors" VALUES(1,9,2,0,7,1);
INSERT INTO "factors" VALUES(1,9,2,1,8,3);
INSERT INTO "factors" VALUES(1,11,0,0,2,1);
INSERT INTO "factors" VALUES(1,11,0,1,7,1);
INSERT INTO "factors" VALUES(1,11,1,0,9,1);
INSERT INTO "factors" VALUES(1,11,2,0,10,1);
INSERT INTO "factors" VALUES(2,6,0,0,0,1);
INSERT INTO "factors" VALUES(2,6,1,0,1,1);
INSERT INTO "factors" VALUES(2,9,0,0,2,1);
INSERT INTO "factors" VALUES(2,9,1,0,3,2);
INSERT INTO "factors" VALUES(2,9,1,1,7,1);
INSERT INTO "factors" VALUES(2,9,2,0,7,1);
INSERT INTO "factors" VALUES(2,9,2,1,8,3);
INSERT INTO "factors" VALUES(2,11,0,0,2,1);
INSERT INTO "factors" VALUES(2,11,0,1,7,1);
INSERT INTO "factors" VALUES(2,11,1,0,9,1);
INSERT INTO "factors" VALUES(2,11,2,0,10,1);
CREATE TABLE graphs (
	id INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	variables INTEGER NOT NULL, 
	terms INTEGER NOT NULL, 
	factors INTEGER NOT NULL, 
	levels INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (hash)
);
INSERT INTO "graphs" VALUES(1,'d27e63d4cd6d7e27a2b00aeb85015668c5b11aa5dbbfc67adb7ddad4bddf225f',12,9,11,5);
INSERT INTO "graphs" VALUES(2,'e1bc70ab4cf2c5d21c10fbc6fa1f45e4fad897ed45348c76ec838789325f81cf',12,9,11,5);
CREATE TABLE inputs (
	graph INTEGER NOT NULL, 
	variable INTEGER NOT NULL, 
	source VARCHAR(16) NOT NULL, 
	place INTEGER NOT NULL, 
	exact TEXT, 
	value DOUBLE, 
	PRIMARY KEY (graph, variable), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "inputs" VALUES(1,0,'q',0,NULL,NULL);
INSERT INTO "inputs" VALUES(1,1,'q',1,NULL,NULL);
INSERT INTO "inputs" VALUES(1,2,'parameter',0,'0.5',0.5);
INSERT INTO "inputs" VALUES(1,3,'parameter',1,'1/3',3.33333333333333314829e-01);
INSERT INTO "inputs" VALUES(2,0,'q',0,NULL,NULL);
INSERT INTO "inputs" VALUES(2,1,'q',1,NULL,NULL);
INSERT INTO "inputs" VALUES(2,2,'parameter',0,'0.7',0.7);
INSERT INTO "inputs" VALUES(2,3,'parameter',1,'1/3',3.33333333333333314829e-01);
CREATE TABLE mechanisms (
	id INTEGER NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	file_name TEXT NOT NULL, 
	media_type TEXT NOT NULL, 
	bytes BLOB NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (hash)
);
INSERT INTO "mechanisms" VALUES(1,'07f4a627b3e4e39347420925bd160244667c126fb7496fcb9960b3472351cb3d','Puma','puma.urdf','application/xml',X'3C726F626F742F3E','{"a": 1}');
CREATE TABLE models (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
);
INSERT INTO "models" VALUES(1,'arm','2024-05-06 07:08:09.123456');
CREATE TABLE objects (
	id INTEGER NOT NULL, 
	graph INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	cpu TEXT NOT NULL, 
	version TEXT NOT NULL, 
	bytes BLOB NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (graph, "key", cpu, version), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
);
INSERT INTO "objects" VALUES(1,1,'k','x86','1',X'');
CREATE TABLE operations (
	graph INTEGER NOT NULL, 
	quantity TEXT NOT NULL, 
	multiplications INTEGER NOT NULL, 
	additions INTEGER NOT NULL, 
	sin INTEGER NOT NULL, 
	cos INTEGER NOT NULL, 
	angle_sums INTEGER NOT NULL, 
	calls INTEGER NOT NULL, 
	once_multiplications INTEGER NOT NULL, 
	once_additions INTEGER NOT NULL, 
	once_sin INTEGER NOT NULL, 
	once_cos INTEGER NOT NULL, 
	once_angle_sums INTEGER NOT NULL, 
	once_calls INTEGER NOT NULL, 
	PRIMARY KEY (graph, quantity), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "operations" VALUES(1,'',8,5,1,1,1,0,0,0,0,0,0,1);
INSERT INTO "operations" VALUES(1,'energy',6,3,1,1,1,0,0,0,0,0,0,0);
INSERT INTO "operations" VALUES(1,'gravity',8,5,1,1,1,0,0,0,0,0,0,1);
INSERT INTO "operations" VALUES(2,'',8,5,1,1,1,0,0,0,0,0,0,1);
INSERT INTO "operations" VALUES(2,'energy',6,3,1,1,1,0,0,0,0,0,0,0);
INSERT INTO "operations" VALUES(2,'gravity',8,5,1,1,1,0,0,0,0,0,0,1);
CREATE TABLE outputs (
	graph INTEGER NOT NULL, 
	is_output BOOLEAN NOT NULL, 
	quantity TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	indices TEXT NOT NULL, 
	label TEXT NOT NULL, 
	variable INTEGER NOT NULL, 
	PRIMARY KEY (graph, is_output, quantity, place), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "outputs" VALUES(1,0,'e_1',0,'1','e_1_x',4);
INSERT INTO "outputs" VALUES(1,0,'e_1',1,'2','e_1_y',5);
INSERT INTO "outputs" VALUES(1,0,'e_1',2,'3','e_1_z',9);
INSERT INTO "outputs" VALUES(1,1,'energy',0,'','E',9);
INSERT INTO "outputs" VALUES(1,1,'gravity',0,'1','hG_1',11);
INSERT INTO "outputs" VALUES(1,1,'gravity',1,'2','hG_2',4);
INSERT INTO "outputs" VALUES(2,0,'e_1',0,'1','e_1_x',4);
INSERT INTO "outputs" VALUES(2,0,'e_1',1,'2','e_1_y',5);
INSERT INTO "outputs" VALUES(2,0,'e_1',2,'3','e_1_z',9);
INSERT INTO "outputs" VALUES(2,1,'energy',0,'','E',9);
INSERT INTO "outputs" VALUES(2,1,'gravity',0,'1','hG_1',11);
INSERT INTO "outputs" VALUES(2,1,'gravity',1,'2','hG_2',4);
CREATE TABLE parameters (
	revision INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	exact TEXT, 
	value DOUBLE, 
	unit TEXT NOT NULL, 
	note TEXT NOT NULL, 
	PRIMARY KEY (revision, name), 
	FOREIGN KEY(revision) REFERENCES revisions (id)
)
 WITHOUT ROWID

;
INSERT INTO "parameters" VALUES(1,'free',1,NULL,NULL,'','');
INSERT INTO "parameters" VALUES(1,'m_1',0,'1/3',3.33333333333333314829e-01,'kg','a note');
INSERT INTO "parameters" VALUES(2,'length',1,'1/3',3.33333333333333314829e-01,'','');
INSERT INTO "parameters" VALUES(2,'m_1',0,'0.7',0.7,'','');
CREATE TABLE revisions (
	id INTEGER NOT NULL, 
	model INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	graph INTEGER NOT NULL, 
	mechanism INTEGER, 
	parent INTEGER, 
	formulation TEXT NOT NULL, 
	step TEXT NOT NULL, 
	options TEXT NOT NULL, 
	author TEXT NOT NULL, 
	note TEXT NOT NULL, 
	created DATETIME NOT NULL, 
	seconds DOUBLE, 
	multiplications INTEGER NOT NULL, 
	additions INTEGER NOT NULL, 
	sin INTEGER NOT NULL, 
	cos INTEGER NOT NULL, 
	angle_sums INTEGER NOT NULL, 
	calls INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (model, number), 
	CONSTRAINT parent_is_earlier CHECK (parent IS NULL OR parent < number), 
	FOREIGN KEY(model) REFERENCES models (id), 
	FOREIGN KEY(graph) REFERENCES graphs (id), 
	FOREIGN KEY(mechanism) REFERENCES mechanisms (id)
);
INSERT INTO "revisions" VALUES(1,1,1,1,1,NULL,'newton_euler','derive','{"depth": 2}','Ann','first
try','2024-05-06 07:08:09.123456',1.5,8,5,1,1,1,0);
INSERT INTO "revisions" VALUES(2,1,2,2,NULL,1,'','bind','{}','','','2024-05-06 07:08:09.123456',NULL,8,5,1,1,1,0);
CREATE TABLE runs (
	id INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	options TEXT NOT NULL, 
	created DATETIME NOT NULL, 
	seconds DOUBLE, 
	media_type TEXT NOT NULL, 
	bytes BLOB NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(revision) REFERENCES revisions (id)
);
INSERT INTO "runs" VALUES(1,1,'simulation','{}','2024-05-06 07:08:09.123456',0.5,'text/plain',X'');
CREATE TABLE schema_version (
	version INTEGER NOT NULL, 
	applied DATETIME NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "schema_version" VALUES(1,'2026-11-15 12:06:41.866066');
CREATE TABLE shapes (
	graph INTEGER NOT NULL, 
	is_output BOOLEAN NOT NULL, 
	quantity TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	shape TEXT NOT NULL, 
	PRIMARY KEY (graph, is_output, quantity), 
	FOREIGN KEY(graph) REFERENCES graphs (id)
)
 WITHOUT ROWID

;
INSERT INTO "shapes" VALUES(1,0,'e_1',0,'3');
INSERT INTO "shapes" VALUES(1,1,'energy',1,'');
INSERT INTO "shapes" VALUES(1,1,'gravity',0,'2');
INSERT INTO "shapes" VALUES(2,0,'e_1',0,'3');
INSERT INTO "shapes" VALUES(2,1,'energy',1,'');
INSERT INTO "shapes" VALUES(2,1,'gravity',0,'2');
CREATE TABLE tags (
	revision INTEGER NOT NULL, 
	tag TEXT NOT NULL, 
	PRIMARY KEY (revision, tag), 
	FOREIGN KEY(revision) REFERENCES revisions (id)
)
 WITHOUT ROWID

;
INSERT INTO "tags" VALUES(1,'good');
CREATE TABLE terms (
	graph INTEGER NOT NULL, 
	owner INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	coefficient TEXT NOT NULL, 
	value DOUBLE, 
	PRIMARY KEY (graph, owner, place)
)
 WITHOUT ROWID

;
INSERT INTO "terms" VALUES(1,5,0,'0.5',0.5);
INSERT INTO "terms" VALUES(1,6,0,'1',1.0);
INSERT INTO "terms" VALUES(1,6,1,'1',1.0);
INSERT INTO "terms" VALUES(1,9,0,'-1',-1.0);
INSERT INTO "terms" VALUES(1,9,1,'2',2.0);
INSERT INTO "terms" VALUES(1,9,2,'22/7',3.1428571428571427937e+00);
INSERT INTO "terms" VALUES(1,11,0,'9.81',9.81);
INSERT INTO "terms" VALUES(1,11,1,'1',1.0);
INSERT INTO "terms" VALUES(1,11,2,'-1',-1.0);
INSERT INTO "terms" VALUES(2,5,0,'0.5',0.5);
INSERT INTO "terms" VALUES(2,6,0,'1',1.0);
INSERT INTO "terms" VALUES(2,6,1,'1',1.0);
INSERT INTO "terms" VALUES(2,9,0,'-1',-1.0);
INSERT INTO "terms" VALUES(2,9,1,'2',2.0);
INSERT INTO "terms" VALUES(2,9,2,'22/7',3.1428571428571427937e+00);
INSERT INTO "terms" VALUES(2,11,0,'9.81',9.81);
INSERT INTO "terms" VALUES(2,11,1,'1',1.0);
INSERT INTO "terms" VALUES(2,11,2,'-1',-1.0);
CREATE TABLE variables (
	graph INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	kind SMALLINT NOT NULL, 
	level INTEGER NOT NULL, 
	call VARCHAR(16), 
	argument INTEGER, 
	PRIMARY KEY (graph, number)
)
 WITHOUT ROWID

;
INSERT INTO "variables" VALUES(1,0,'q1',2,0,NULL,NULL);
INSERT INTO "variables" VALUES(1,1,'q2',2,0,NULL,NULL);
INSERT INTO "variables" VALUES(1,2,'m_1',1,0,NULL,NULL);
INSERT INTO "variables" VALUES(1,3,'length',1,0,NULL,NULL);
INSERT INTO "variables" VALUES(1,4,'zero',0,0,NULL,NULL);
INSERT INTO "variables" VALUES(1,5,'half',0,0,NULL,NULL);
INSERT INTO "variables" VALUES(1,6,'both',4,1,NULL,NULL);
INSERT INTO "variables" VALUES(1,7,'sin_q1',5,1,'sin',0);
INSERT INTO "variables" VALUES(1,8,'cos_both',5,2,'cos',6);
INSERT INTO "variables" VALUES(1,9,'square',4,3,NULL,NULL);
INSERT INTO "variables" VALUES(1,10,'inverse',5,1,'reciprocal',3);
INSERT INTO "variables" VALUES(1,11,'hG_1',4,4,NULL,NULL);
INSERT INTO "variables" VALUES(2,0,'q1',2,0,NULL,NULL);
INSERT INTO "variables" VALUES(2,1,'q2',2,0,NULL,NULL);
INSERT INTO "variables" VALUES(2,2,'m_1',1,0,NULL,NULL);
INSERT INTO "variables" VALUES(2,3,'length',1,0,NULL,NULL);
INSERT INTO "variables" VALUES(2,4,'zero',0,0,NULL,NULL);
INSERT INTO "variables" VALUES(2,5,'half',0,0,NULL,NULL);
INSERT INTO "variables" VALUES(2,6,'both',4,1,NULL,NULL);
INSERT INTO "variables" VALUES(2,7,'sin_q1',5,1,'sin',0);
INSERT INTO "variables" VALUES(2,8,'cos_both',5,2,'cos',6);
INSERT INTO "variables" VALUES(2,9,'square',4,3,NULL,NULL);
INSERT INTO "variables" VALUES(2,10,'inverse',5,1,'reciprocal',3);
INSERT INTO "variables" VALUES(2,11,'hG_1',4,4,NULL,NULL);
CREATE UNIQUE INDEX variables_by_name ON variables (graph, name);
CREATE INDEX ix_revisions_graph ON revisions (graph);
CREATE INDEX ix_revisions_mechanism ON revisions (mechanism);
CREATE INDEX ix_objects_graph ON objects (graph);
CREATE INDEX ix_runs_revision ON runs (revision);
CREATE VIEW definitions AS SELECT v.graph, v.number, v.name, CASE v.kind WHEN 0 THEN 'constant' WHEN 1 THEN 'parameter' WHEN 2 THEN 'coordinate' WHEN 3 THEN 'force' WHEN 4 THEN 'computed' WHEN 5 THEN 'call' END AS kind, v.level, CASE WHEN v.kind IN (1, 2, 3) THEN v.name WHEN v.call IS NOT NULL THEN v.call || '(' || a.name || ')' ELSE coalesce((SELECT group_concat(piece, '') FROM (SELECT CASE WHEN place = 0 THEN CASE WHEN coefficient LIKE '-%' THEN '-' ELSE '' END WHEN coefficient LIKE '-%' THEN ' - ' ELSE ' + ' END || CASE WHEN product IS NULL THEN ltrim(coefficient, '-') WHEN ltrim(coefficient, '-') = '1' THEN product ELSE ltrim(coefficient, '-') || '*' || product END AS piece FROM (SELECT t.place, t.coefficient, (SELECT group_concat(piece, '*') FROM (SELECT w.name || CASE WHEN f.power = 1 THEN '' ELSE '^' || f.power END AS piece FROM factors f JOIN variables w ON w.graph = f.graph AND w.number = f.variable WHERE f.graph = t.graph AND f.owner = t.owner AND f.term = t.place ORDER BY f.place)) AS product FROM terms t WHERE t.graph = v.graph AND t.owner = v.number) AS term ORDER BY place)), '0') END AS formula FROM variables v LEFT JOIN variables a ON a.graph = v.graph AND a.number = v.argument;
CREATE VIEW expressions AS SELECT e.graph, e.variable AS number, v.name, e.form, e.terms, coalesce((SELECT group_concat(piece, '') FROM (SELECT CASE WHEN place = 0 THEN CASE WHEN coefficient LIKE '-%' THEN '-' ELSE '' END WHEN coefficient LIKE '-%' THEN ' - ' ELSE ' + ' END || CASE WHEN product IS NULL THEN ltrim(coefficient, '-') WHEN ltrim(coefficient, '-') = '1' THEN product ELSE ltrim(coefficient, '-') || '*' || product END AS piece FROM (SELECT t.place, t.coefficient, (SELECT group_concat(piece, '*') FROM (SELECT f.symbol || CASE WHEN f.power = 1 THEN '' ELSE '^' || f.power END AS piece FROM expanded_factors f WHERE f.graph = t.graph AND f.variable = t.variable AND f.form = t.form AND f.term = t.place ORDER BY f.place)) AS product FROM expanded_terms t WHERE t.graph = e.graph AND t.variable = e.variable AND t.form = e.form) AS term ORDER BY place)), '0') AS expression FROM expansions e JOIN variables v ON v.graph = e.graph AND v.number = e.variable;
CREATE VIEW quantities AS 
SELECT m.name AS model, r.number AS revision, r.graph, s.quantity, s.is_output, s.shape,
       o.indices, o.label, v.name, v.level
FROM models m JOIN revisions r ON r.model = m.id
JOIN shapes s ON s.graph = r.graph
JOIN outputs o ON o.graph = s.graph AND o.is_output = s.is_output AND o.quantity = s.quantity
JOIN variables v ON v.graph = o.graph AND v.number = o.variable;
CREATE VIEW formulas AS 
SELECT m.name AS model, r.number AS revision, r.graph, d.number, d.name, d.kind, d.level, d.formula
FROM models m JOIN revisions r ON r.model = m.id
JOIN definitions d ON d.graph = r.graph;
CREATE VIEW operation_counts AS 
SELECT m.name AS model, r.number AS revision, r.graph, n.quantity,
       n.multiplications, n.additions, n.sin, n.cos, n.angle_sums, n.calls,
       n.once_multiplications, n.once_additions, n.once_sin, n.once_cos, n.once_angle_sums,
       n.once_calls
FROM models m JOIN revisions r ON r.model = m.id
JOIN operations n ON n.graph = r.graph;
CREATE VIEW uses AS 
SELECT DISTINCT m.name AS model, r.number AS revision, r.graph, u.name, w.name AS uses
FROM models m JOIN revisions r ON r.model = m.id
JOIN factors f ON f.graph = r.graph
JOIN variables u ON u.graph = f.graph AND u.number = f.owner
JOIN variables w ON w.graph = f.graph AND w.number = f.variable
UNION ALL
SELECT m.name, r.number, r.graph, u.name, w.name
FROM models m JOIN revisions r ON r.model = m.id
JOIN variables u ON u.graph = r.graph
JOIN variables w ON w.graph = u.graph AND w.number = u.argument;
COMMIT;
