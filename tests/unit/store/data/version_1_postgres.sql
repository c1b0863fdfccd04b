CREATE TABLE public.aliases (
    graph bigint NOT NULL,
    name text NOT NULL,
    place integer NOT NULL,
    variable integer NOT NULL
);
CREATE TABLE public.caches (
    graph bigint NOT NULL,
    bytes bytea NOT NULL
);
CREATE TABLE public.factors (
    graph bigint NOT NULL,
    owner integer NOT NULL,
    term integer NOT NULL,
    place integer NOT NULL,
    variable integer NOT NULL,
    power smallint NOT NULL
);
CREATE TABLE public.terms (
    graph bigint NOT NULL,
    owner integer NOT NULL,
    place integer NOT NULL,
    coefficient text NOT NULL,
    value double precision
);
CREATE TABLE public.variables (
    graph bigint NOT NULL,
    number integer NOT NULL,
    name text NOT NULL,
    kind smallint NOT NULL,
    level integer NOT NULL,
    call character varying(16),
    argument integer
);
CREATE VIEW public.definitions AS
 SELECT v.graph,
    v.number,
    v.name,
        CASE v.kind
            WHEN 0 THEN 'constant'::text
            WHEN 1 THEN 'parameter'::text
            WHEN 2 THEN 'coordinate'::text
            WHEN 3 THEN 'force'::text
            WHEN 4 THEN 'computed'::text
            WHEN 5 THEN 'call'::text
            ELSE NULL::text
        END AS kind,
    v.level,
        CASE
            WHEN (v.kind = ANY (ARRAY[1, 2, 3])) THEN v.name
            WHEN (v.call IS NOT NULL) THEN ((((v.call)::text || '('::text) || a.name) || ')'::text)
            ELSE COALESCE(( SELECT string_agg((
                    CASE
                        WHEN (term.place = 0) THEN
                        CASE
                            WHEN (term.coefficient ~~ '-%'::text) THEN '-'::text
                            ELSE ''::text
                        END
                        WHEN (term.coefficient ~~ '-%'::text) THEN ' - '::text
                        ELSE ' + '::text
                    END ||
                    CASE
                        WHEN (term.product IS NULL) THEN ltrim(term.coefficient, '-'::text)
                        WHEN (ltrim(term.coefficient, '-'::text) = '1'::text) THEN term.product
                        ELSE ((ltrim(term.coefficient, '-'::text) || '*'::text) || term.product)
                    END), ''::text ORDER BY term.place) AS string_agg
               FROM ( SELECT t.place,
                        t.coefficient,
                        ( SELECT string_agg((w.name ||
                                    CASE
WHEN (f.power = 1) THEN ''::text
ELSE ('^'::text || f.power)
                                    END), '*'::text ORDER BY f.place) AS string_agg
                               FROM (public.factors f
                                 JOIN public.variables w ON (((w.graph = f.graph) AND (w.number = f.variable))))
                              WHERE ((f.graph = t.graph) AND (f.owner = t.owner) AND (f.term = t.place))) AS product
                       FROM public.terms t
                      WHERE ((t.graph = v.graph) AND (t.owner = v.number))) term), '0'::text)
        END AS formula
   FROM (public.variables v
     LEFT JOIN public.variables a ON (((a.graph = v.graph) AND (a.number = v.argument))));
CREATE TABLE public.expanded_factors (
    graph bigint NOT NULL,
    variable integer NOT NULL,
    form character varying(16) NOT NULL,
    term integer NOT NULL,
    place integer NOT NULL,
    symbol text NOT NULL,
    power integer NOT NULL
);
CREATE TABLE public.expanded_terms (
    graph bigint NOT NULL,
    variable integer NOT NULL,
    form character varying(16) NOT NULL,
    place integer NOT NULL,
    coefficient text NOT NULL,
    value double precision
);
CREATE TABLE public.expansions (
    graph bigint NOT NULL,
    variable integer NOT NULL,
    form character varying(16) NOT NULL,
    terms integer NOT NULL
);
CREATE VIEW public.expressions AS
 SELECT e.graph,
    e.variable AS number,
    v.name,
    e.form,
    e.terms,
    COALESCE(( SELECT string_agg((
                CASE
                    WHEN (term.place = 0) THEN
                    CASE
                        WHEN (term.coefficient ~~ '-%'::text) THEN '-'::text
                        ELSE ''::text
                    END
                    WHEN (term.coefficient ~~ '-%'::text) THEN ' - '::text
                    ELSE ' + '::text
                END ||
                CASE
                    WHEN (term.product IS NULL) THEN ltrim(term.coefficient, '-'::text)
                    WHEN (ltrim(term.coefficient, '-'::text) = '1'::text) THEN term.product
                    ELSE ((ltrim(term.coefficient, '-'::text) || '*'::text) || term.product)
                END), ''::text ORDER BY term.place) AS string_agg
           FROM ( SELECT t.place,
                    t.coefficient,
                    ( SELECT string_agg((f.symbol ||
                                CASE
                                    WHEN (f.power = 1) THEN ''::text
                                    ELSE ('^'::text || f.power)
                                END), '*'::text ORDER BY f.place) AS string_agg
                           FROM public.expanded_factors f
                          WHERE ((f.graph = t.graph) AND (f.variable = t.variable) AND ((f.form)::text = (t.form)::text) AND (f.term = t.place))) AS product
                   FROM public.expanded_terms t
                  WHERE ((t.graph = e.graph) AND (t.variable = e.variable) AND ((t.form)::text = (e.form)::text))) term), '0'::text) AS expression
   FROM (public.expansions e
     JOIN public.variables v ON (((v.graph = e.graph) AND (v.number = e.variable))));
CREATE TABLE public.models (
    id bigint NOT NULL,
    name text NOT NULL,
    created timestamp with time zone NOT NULL
);
CREATE TABLE public.revisions (
    id bigint NOT NULL,
    model bigint NOT NULL,
    number integer NOT NULL,
    graph bigint NOT NULL,
    mechanism bigint,
    parent integer,
    formulation text NOT NULL,
    step text NOT NULL,
    options text NOT NULL,
    author text NOT NULL,
    note text NOT NULL,
    created timestamp with time zone NOT NULL,
    seconds double precision,
    multiplications integer NOT NULL,
    additions integer NOT NULL,
    sin integer NOT NULL,
    cos integer NOT NULL,
    angle_sums integer NOT NULL,
    calls integer NOT NULL,
    CONSTRAINT parent_is_earlier CHECK (((parent IS NULL) OR (parent < number)))
);
CREATE VIEW public.formulas AS
 SELECT m.name AS model,
    r.number AS revision,
    r.graph,
    d.number,
    d.name,
    d.kind,
    d.level,
    d.formula
   FROM ((public.models m
     JOIN public.revisions r ON ((r.model = m.id)))
     JOIN public.definitions d ON ((d.graph = r.graph)));
CREATE TABLE public.graphs (
    id bigint NOT NULL,
    hash character varying(64) NOT NULL,
    variables integer NOT NULL,
    terms integer NOT NULL,
    factors integer NOT NULL,
    levels integer NOT NULL
);
CREATE SEQUENCE public.graphs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.graphs_id_seq OWNED BY public.graphs.id;
CREATE TABLE public.inputs (
    graph bigint NOT NULL,
    variable integer NOT NULL,
    source character varying(16) NOT NULL,
    place integer NOT NULL,
    exact text,
    value double precision
);
CREATE TABLE public.mechanisms (
    id bigint NOT NULL,
    hash character varying(64) NOT NULL,
    name text NOT NULL,
    file_name text NOT NULL,
    media_type text NOT NULL,
    bytes bytea NOT NULL,
    text text NOT NULL
);
CREATE SEQUENCE public.mechanisms_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.mechanisms_id_seq OWNED BY public.mechanisms.id;
CREATE SEQUENCE public.models_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.models_id_seq OWNED BY public.models.id;
CREATE TABLE public.objects (
    id bigint NOT NULL,
    graph bigint NOT NULL,
    key text NOT NULL,
    cpu text NOT NULL,
    version text NOT NULL,
    bytes bytea NOT NULL
);
CREATE SEQUENCE public.objects_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.objects_id_seq OWNED BY public.objects.id;
CREATE TABLE public.operations (
    graph bigint NOT NULL,
    quantity text NOT NULL,
    multiplications integer NOT NULL,
    additions integer NOT NULL,
    sin integer NOT NULL,
    cos integer NOT NULL,
    angle_sums integer NOT NULL,
    calls integer NOT NULL,
    once_multiplications integer NOT NULL,
    once_additions integer NOT NULL,
    once_sin integer NOT NULL,
    once_cos integer NOT NULL,
    once_angle_sums integer NOT NULL,
    once_calls integer NOT NULL
);
CREATE VIEW public.operation_counts AS
 SELECT m.name AS model,
    r.number AS revision,
    r.graph,
    n.quantity,
    n.multiplications,
    n.additions,
    n.sin,
    n.cos,
    n.angle_sums,
    n.calls,
    n.once_multiplications,
    n.once_additions,
    n.once_sin,
    n.once_cos,
    n.once_angle_sums,
    n.once_calls
   FROM ((public.models m
     JOIN public.revisions r ON ((r.model = m.id)))
     JOIN public.operations n ON ((n.graph = r.graph)));
CREATE TABLE public.outputs (
    graph bigint NOT NULL,
    is_output boolean NOT NULL,
    quantity text NOT NULL,
    place integer NOT NULL,
    indices text NOT NULL,
    label text NOT NULL,
    variable integer NOT NULL
);
CREATE TABLE public.parameters (
    revision bigint NOT NULL,
    name text NOT NULL,
    place integer NOT NULL,
    exact text,
    value double precision,
    unit text NOT NULL,
    note text NOT NULL
);
CREATE TABLE public.shapes (
    graph bigint NOT NULL,
    is_output boolean NOT NULL,
    quantity text NOT NULL,
    place integer NOT NULL,
    shape text NOT NULL
);
CREATE VIEW public.quantities AS
 SELECT m.name AS model,
    r.number AS revision,
    r.graph,
    s.quantity,
    s.is_output,
    s.shape,
    o.indices,
    o.label,
    v.name,
    v.level
   FROM ((((public.models m
     JOIN public.revisions r ON ((r.model = m.id)))
     JOIN public.shapes s ON ((s.graph = r.graph)))
     JOIN public.outputs o ON (((o.graph = s.graph) AND (o.is_output = s.is_output) AND (o.quantity = s.quantity))))
     JOIN public.variables v ON (((v.graph = o.graph) AND (v.number = o.variable))));
CREATE SEQUENCE public.revisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.revisions_id_seq OWNED BY public.revisions.id;
CREATE TABLE public.runs (
    id bigint NOT NULL,
    revision bigint NOT NULL,
    kind text NOT NULL,
    options text NOT NULL,
    created timestamp with time zone NOT NULL,
    seconds double precision,
    media_type text NOT NULL,
    bytes bytea NOT NULL
);
CREATE SEQUENCE public.runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.runs_id_seq OWNED BY public.runs.id;
CREATE TABLE public.schema_version (
    version integer NOT NULL,
    applied timestamp with time zone NOT NULL
);
CREATE TABLE public.tags (
    revision bigint NOT NULL,
    tag text NOT NULL
);
CREATE VIEW public.uses AS
 SELECT DISTINCT m.name AS model,
    r.number AS revision,
    r.graph,
    u.name,
    w.name AS uses
   FROM ((((public.models m
     JOIN public.revisions r ON ((r.model = m.id)))
     JOIN public.factors f ON ((f.graph = r.graph)))
     JOIN public.variables u ON (((u.graph = f.graph) AND (u.number = f.owner))))
     JOIN public.variables w ON (((w.graph = f.graph) AND (w.number = f.variable))))
UNION ALL
 SELECT m.name AS model,
    r.number AS revision,
    r.graph,
    u.name,
    w.name AS uses
   FROM (((public.models m
     JOIN public.revisions r ON ((r.model = m.id)))
     JOIN public.variables u ON ((u.graph = r.graph)))
     JOIN public.variables w ON (((w.graph = u.graph) AND (w.number = u.argument))));
ALTER TABLE ONLY public.graphs ALTER COLUMN id SET DEFAULT nextval('public.graphs_id_seq'::regclass);
ALTER TABLE ONLY public.mechanisms ALTER COLUMN id SET DEFAULT nextval('public.mechanisms_id_seq'::regclass);
ALTER TABLE ONLY public.models ALTER COLUMN id SET DEFAULT nextval('public.models_id_seq'::regclass);
ALTER TABLE ONLY public.objects ALTER COLUMN id SET DEFAULT nextval('public.objects_id_seq'::regclass);
ALTER TABLE ONLY public.revisions ALTER COLUMN id SET DEFAULT nextval('public.revisions_id_seq'::regclass);
ALTER TABLE ONLY public.runs ALTER COLUMN id SET DEFAULT nextval('public.runs_id_seq'::regclass);
INSERT INTO public.aliases VALUES (1, 'weight', 0, 11);
INSERT INTO public.aliases VALUES (2, 'weight', 0, 11);
INSERT INTO public.caches VALUES (1, '\x78017d8f6d4fc23010c7b7c114f914cdbdae400744f1bdf1432c64294bb735d93ad67528183fbbdee1669044dbfcdbdef5774fef90d5b6920e9e048783b45aee4ad5a2157170ca56f8dc70c864ea6a4b6ea48cac888046b02662552258a94cee0a7652b666852c33b6abd16cb5499049eb36f9b69b4e5ac5b43928db2a56bc240238a4b5ca329d6a651c255dccd64cb07bc1221645f307b6993d12a5cdbea3ff385e7068802fb8e9ca72cb63ec074d3198d8f55e5a6c107b278af20162cb5f7e0c12f3256cb71c64a9654be3c431bc2a9d170eb309faa93b37d484dcca837647e0714435055f214003d0141115006594cd89406383bfcfe7f438b271dae9be82a291e325222bbee684a1277963741ecfe709c33ea641e0fb9e370ec37138f6fe580878a40035eadf17b01f7813eff39f8521de0d8a108aa79b7cd76ba831f889a535dcd77d500f21ea326e60061ff54c1afcf8fce129ef6daf09dec4917d879aa2fcf30ecee7a8b77cef0bb1b59feb');
INSERT INTO public.caches VALUES (2, '\x78017d8f6d4fc23010c7b7c114f914cdbdae400704f1bdf1432c64a94bb735d93ad67528183fbbdee1669044dbfcdbdef5774fef90d5b6920e1e058783b45abe94aa452be2e094adf0b9e590c9d4d596dc48195911018d604dc4aa44b05299dc15eca46ccd0a5966eca546b3d5264126addbe4db6e3a6915d3e6a06cab58f19c08e090d62acb74aa95719474315b33c1ee058b5814cd376c3b7b204a9b7d47ff71bce0d0005f70d395e58ec7d80f9a6230b1ebbdb4d820f64e14e6db0062cb5f7e0c12f325ec761c64a9654be3c431bc2a9d170eb309faa93b37d484dcca837647e0714435055f214003d0141115006594cd8940638bbf4fe7f438b271dae9be82a291e325222bbee684a1277963741ecfe709c33ea641e0fb9e370ec37138f6fe580878a40035eadf17b01f7813eff39f8521de0d8a108aa79b7cd76ba831f889a535dcd77d500f21ea326e60061ff54c1afcf8fce129ef6daf09dec4917d879aa2fcf30ecee7a8b77cef0bb5819fed');
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 0, 0, 'sin(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 0, 1, 'cos(q1)', 3);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 0, 2, 'cos(q2)', 3);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 1, 0, 'sin(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 1, 1, 'cos(q1)', 3);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 1, 2, 'cos(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 2, 0, 'sin(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 2, 1, 'cos(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 2, 2, 'cos(q2)', 3);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 3, 0, 'sin(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 3, 1, 'cos(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 3, 2, 'cos(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 4, 0, 'sin(q1)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 4, 1, 'length', 2);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 5, 0, 'cos(q1)', 4);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 5, 1, 'sin(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 5, 2, 'cos(q2)', 2);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 6, 0, 'cos(q1)', 4);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 6, 1, 'sin(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 7, 0, 'cos(q1)', 2);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 7, 1, 'sin(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 7, 2, 'cos(q2)', 2);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 8, 0, 'cos(q1)', 2);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 8, 1, 'sin(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 9, 0, 'sin(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 9, 1, 'cos(q2)', 2);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 10, 0, 'sin(q2)', 1);
INSERT INTO public.expanded_factors VALUES (1, 9, 'trig split', 11, 0, 'm_1', 1);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 0, '88/7', 12.571428571428571);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 1, '-66/7', -9.428571428571429);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 2, '-66/7', -9.428571428571429);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 3, '66/7', 9.428571428571429);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 4, '2', 2);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 5, '88/7', 12.571428571428571);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 6, '-22/7', -3.142857142857143);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 7, '-110/7', -15.714285714285714);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 8, '44/7', 6.285714285714286);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 9, '22/7', 3.142857142857143);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 10, '-22/7', -3.142857142857143);
INSERT INTO public.expanded_terms VALUES (1, 9, 'trig split', 11, '-1', -1);
INSERT INTO public.expansions VALUES (1, 9, 'trig split', 12);
INSERT INTO public.factors VALUES (1, 6, 0, 0, 0, 1);
INSERT INTO public.factors VALUES (1, 6, 1, 0, 1, 1);
INSERT INTO public.factors VALUES (1, 9, 0, 0, 2, 1);
INSERT INTO public.factors VALUES (1, 9, 1, 0, 3, 2);
INSERT INTO public.factors VALUES (1, 9, 1, 1, 7, 1);
INSERT INTO public.factors VALUES (1, 9, 2, 0, 7, 1);
INSERT INTO public.factors VALUES (1, 9, 2, 1, 8, 3);
INSERT INTO public.factors VALUES (1, 11, 0, 0, 2, 1);
INSERT INTO public.factors VALUES (1, 11, 0, 1, 7, 1);
INSERT INTO public.factors VALUES (1, 11, 1, 0, 9, 1);
INSERT INTO public.factors VALUES (1, 11, 2, 0, 10, 1);
INSERT INTO public.factors VALUES (2, 6, 0, 0, 0, 1);
INSERT INTO public.factors VALUES (2, 6, 1, 0, 1, 1);
INSERT INTO public.factors VALUES (2, 9, 0, 0, 2, 1);
INSERT INTO public.factors VALUES (2, 9, 1, 0, 3, 2);
INSERT INTO public.factors VALUES (2, 9, 1, 1, 7, 1);
INSERT INTO public.factors VALUES (2, 9, 2, 0, 7, 1);
INSERT INTO public.factors VALUES (2, 9, 2, 1, 8, 3);
INSERT INTO public.factors VALUES (2, 11, 0, 0, 2, 1);
INSERT INTO public.factors VALUES (2, 11, 0, 1, 7, 1);
INSERT INTO public.factors VALUES (2, 11, 1, 0, 9, 1);
INSERT INTO public.factors VALUES (2, 11, 2, 0, 10, 1);
INSERT INTO public.graphs VALUES (1, 'd27e63d4cd6d7e27a2b00aeb85015668c5b11aa5dbbfc67adb7ddad4bddf225f', 12, 9, 11, 5);
INSERT INTO public.graphs VALUES (2, 'e1bc70ab4cf2c5d21c10fbc6fa1f45e4fad897ed45348c76ec838789325f81cf', 12, 9, 11, 5);
INSERT INTO public.inputs VALUES (1, 0, 'q', 0, NULL, NULL);
INSERT INTO public.inputs VALUES (1, 1, 'q', 1, NULL, NULL);
INSERT INTO public.inputs VALUES (1, 2, 'parameter', 0, '0.5', 0.5);
INSERT INTO public.inputs VALUES (1, 3, 'parameter', 1, '1/3', 0.3333333333333333);
INSERT INTO public.inputs VALUES (2, 0, 'q', 0, NULL, NULL);
INSERT INTO public.inputs VALUES (2, 1, 'q', 1, NULL, NULL);
INSERT INTO public.inputs VALUES (2, 2, 'parameter', 0, '0.7', 0.7);
INSERT INTO public.inputs VALUES (2, 3, 'parameter', 1, '1/3', 0.3333333333333333);
INSERT INTO public.mechanisms VALUES (1, '07f4a627b3e4e39347420925bd160244667c126fb7496fcb9960b3472351cb3d', 'Puma', 'puma.urdf', 'application/xml', '\x3c726f626f742f3e', '{"a": 1}');
INSERT INTO public.models VALUES (1, 'arm', '2024-05-06 07:08:09.123456+00');
INSERT INTO public.objects VALUES (1, 1, 'k', 'x86', '1', '\x');
INSERT INTO public.operations VALUES (1, '', 8, 5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO public.operations VALUES (1, 'gravity', 8, 5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO public.operations VALUES (1, 'energy', 6, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.operations VALUES (2, '', 8, 5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO public.operations VALUES (2, 'gravity', 8, 5, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO public.operations VALUES (2, 'energy', 6, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.outputs VALUES (1, true, 'gravity', 0, '1', 'hG_1', 11);
INSERT INTO public.outputs VALUES (1, true, 'gravity', 1, '2', 'hG_2', 4);
INSERT INTO public.outputs VALUES (1, true, 'energy', 0, '', 'E', 9);
INSERT INTO public.outputs VALUES (1, false, 'e_1', 0, '1', 'e_1_x', 4);
INSERT INTO public.outputs VALUES (1, false, 'e_1', 1, '2', 'e_1_y', 5);
INSERT INTO public.outputs VALUES (1, false, 'e_1', 2, '3', 'e_1_z', 9);
INSERT INTO public.outputs VALUES (2, true, 'gravity', 0, '1', 'hG_1', 11);
INSERT INTO public.outputs VALUES (2, true, 'gravity', 1, '2', 'hG_2', 4);
INSERT INTO public.outputs VALUES (2, true, 'energy', 0, '', 'E', 9);
INSERT INTO public.outputs VALUES (2, false, 'e_1', 0, '1', 'e_1_x', 4);
INSERT INTO public.outputs VALUES (2, false, 'e_1', 1, '2', 'e_1_y', 5);
INSERT INTO public.outputs VALUES (2, false, 'e_1', 2, '3', 'e_1_z', 9);
INSERT INTO public.parameters VALUES (1, 'm_1', 0, '1/3', 0.3333333333333333, 'kg', 'a note');
INSERT INTO public.parameters VALUES (1, 'free', 1, NULL, NULL, '', '');
INSERT INTO public.parameters VALUES (2, 'm_1', 0, '0.7', 0.7, '', '');
INSERT INTO public.parameters VALUES (2, 'length', 1, '1/3', 0.3333333333333333, '', '');
INSERT INTO public.revisions VALUES (1, 1, 1, 1, 1, NULL, 'newton_euler', 'derive', '{"depth": 2}', 'Ann', 'first
try', '2024-05-06 07:08:09.123456+00', 1.5, 8, 5, 1, 1, 1, 0);
INSERT INTO public.revisions VALUES (2, 1, 2, 2, NULL, 1, '', 'bind', '{}', '', '', '2024-05-06 07:08:09.123456+00', NULL, 8, 5, 1, 1, 1, 0);
INSERT INTO public.runs VALUES (1, 1, 'simulation', '{}', '2024-05-06 07:08:09.123456+00', 0.5, 'text/plain', '\x');
INSERT INTO public.schema_version VALUES (1, '2026-11-15 12:06:42.717499+00');
INSERT INTO public.shapes VALUES (1, true, 'gravity', 0, '2');
INSERT INTO public.shapes VALUES (1, true, 'energy', 1, '');
INSERT INTO public.shapes VALUES (1, false, 'e_1', 0, '3');
INSERT INTO public.shapes VALUES (2, true, 'gravity', 0, '2');
INSERT INTO public.shapes VALUES (2, true, 'energy', 1, '');
INSERT INTO public.shapes VALUES (2, false, 'e_1', 0, '3');
INSERT INTO public.tags VALUES (1, 'good');
INSERT INTO public.terms VALUES (1, 5, 0, '0.5', 0.5);
INSERT INTO public.terms VALUES (1, 6, 0, '1', 1);
INSERT INTO public.terms VALUES (1, 6, 1, '1', 1);
INSERT INTO public.terms VALUES (1, 9, 0, '-1', -1);
INSERT INTO public.terms VALUES (1, 9, 1, '2', 2);
INSERT INTO public.terms VALUES (1, 9, 2, '22/7', 3.142857142857143);
INSERT INTO public.terms VALUES (1, 11, 0, '9.81', 9.81);
INSERT INTO public.terms VALUES (1, 11, 1, '1', 1);
INSERT INTO public.terms VALUES (1, 11, 2, '-1', -1);
INSERT INTO public.terms VALUES (2, 5, 0, '0.5', 0.5);
INSERT INTO public.terms VALUES (2, 6, 0, '1', 1);
INSERT INTO public.terms VALUES (2, 6, 1, '1', 1);
INSERT INTO public.terms VALUES (2, 9, 0, '-1', -1);
INSERT INTO public.terms VALUES (2, 9, 1, '2', 2);
INSERT INTO public.terms VALUES (2, 9, 2, '22/7', 3.142857142857143);
INSERT INTO public.terms VALUES (2, 11, 0, '9.81', 9.81);
INSERT INTO public.terms VALUES (2, 11, 1, '1', 1);
INSERT INTO public.terms VALUES (2, 11, 2, '-1', -1);
INSERT INTO public.variables VALUES (1, 0, 'q1', 2, 0, NULL, NULL);
INSERT INTO public.variables VALUES (1, 1, 'q2', 2, 0, NULL, NULL);
INSERT INTO public.variables VALUES (1, 2, 'm_1', 1, 0, NULL, NULL);
INSERT INTO public.variables VALUES (1, 3, 'length', 1, 0, NULL, NULL);
INSERT INTO public.variables VALUES (1, 4, 'zero', 0, 0, NULL, NULL);
INSERT INTO public.variables VALUES (1, 5, 'half', 0, 0, NULL, NULL);
INSERT INTO public.variables VALUES (1, 6, 'both', 4, 1, NULL, NULL);
INSERT INTO public.variables VALUES (1, 7, 'sin_q1', 5, 1, 'sin', 0);
INSERT INTO public.variables VALUES (1, 8, 'cos_both', 5, 2, 'cos', 6);
INSERT INTO public.variables VALUES (1, 9, 'square', 4, 3, NULL, NULL);
INSERT INTO public.variables VALUES (1, 10, 'inverse', 5, 1, 'reciprocal', 3);
INSERT INTO public.variables VALUES (1, 11, 'hG_1', 4, 4, NULL, NULL);
INSERT INTO public.variables VALUES (2, 0, 'q1', 2, 0, NULL, NULL);
INSERT INTO public.variables VALUES (2, 1, 'q2', 2, 0, NULL, NULL);
INSERT INTO public.variables VALUES (2, 2, 'm_1', 1, 0, NULL, NULL);
INSERT INTO public.variables VALUES (2, 3, 'length', 1, 0, NULL, NULL);
INSERT INTO public.variables VALUES (2, 4, 'zero', 0, 0, NULL, NULL);
INSERT INTO public.variables VALUES (2, 5, 'half', 0, 0, NULL, NULL);
INSERT INTO public.variables VALUES (2, 6, 'both', 4, 1, NULL, NULL);
INSERT INTO public.variables VALUES (2, 7, 'sin_q1', 5, 1, 'sin', 0);
INSERT INTO public.variables VALUES (2, 8, 'cos_both', 5, 2, 'cos', 6);
INSERT INTO public.variables VALUES (2, 9, 'square', 4, 3, NULL, NULL);
INSERT INTO public.variables VALUES (2, 10, 'inverse', 5, 1, 'reciprocal', 3);
INSERT INTO public.variables VALUES (2, 11, 'hG_1', 4, 4, NULL, NULL);
SELECT pg_catalog.setval('public.graphs_id_seq', 2, true);
SELECT pg_catalog.setval('public.mechanisms_id_seq', 1, true);
SELECT pg_catalog.setval('public.models_id_seq', 2, true);
SELECT pg_catalog.setval('public.objects_id_seq', 1, true);
SELECT pg_catalog.setval('public.revisions_id_seq', 2, true);
SELECT pg_catalog.setval('public.runs_id_seq', 1, true);
ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT aliases_pkey PRIMARY KEY (graph, name);
ALTER TABLE ONLY public.caches
    ADD CONSTRAINT caches_pkey PRIMARY KEY (graph);
ALTER TABLE ONLY public.expanded_factors
    ADD CONSTRAINT expanded_factors_pkey PRIMARY KEY (graph, variable, form, term, place);
ALTER TABLE ONLY public.expanded_terms
    ADD CONSTRAINT expanded_terms_pkey PRIMARY KEY (graph, variable, form, place);
ALTER TABLE ONLY public.expansions
    ADD CONSTRAINT expansions_pkey PRIMARY KEY (graph, variable, form);
ALTER TABLE ONLY public.factors
    ADD CONSTRAINT factors_pkey PRIMARY KEY (graph, owner, term, place);
ALTER TABLE ONLY public.graphs
    ADD CONSTRAINT graphs_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.graphs
    ADD CONSTRAINT graphs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.inputs
    ADD CONSTRAINT inputs_pkey PRIMARY KEY (graph, variable);
ALTER TABLE ONLY public.mechanisms
    ADD CONSTRAINT mechanisms_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.mechanisms
    ADD CONSTRAINT mechanisms_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_name_key UNIQUE (name);
ALTER TABLE ONLY public.models
    ADD CONSTRAINT models_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.objects
    ADD CONSTRAINT objects_graph_key_cpu_version_key UNIQUE (graph, key, cpu, version);
ALTER TABLE ONLY public.objects
    ADD CONSTRAINT objects_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (graph, quantity);
ALTER TABLE ONLY public.outputs
    ADD CONSTRAINT outputs_pkey PRIMARY KEY (graph, is_output, quantity, place);
ALTER TABLE ONLY public.parameters
    ADD CONSTRAINT parameters_pkey PRIMARY KEY (revision, name);
ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_model_number_key UNIQUE (model, number);
ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_version
    ADD CONSTRAINT schema_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.shapes
    ADD CONSTRAINT shapes_pkey PRIMARY KEY (graph, is_output, quantity);
ALTER TABLE ONLY public.tags
    ADD CONSTRAINT tags_pkey PRIMARY KEY (revision, tag);
ALTER TABLE ONLY public.terms
    ADD CONSTRAINT terms_pkey PRIMARY KEY (graph, owner, place);
ALTER TABLE ONLY public.variables
    ADD CONSTRAINT variables_pkey PRIMARY KEY (graph, number);
CREATE INDEX ix_objects_graph ON public.objects USING btree (graph);
CREATE INDEX ix_revisions_graph ON public.revisions USING btree (graph);
CREATE INDEX ix_revisions_mechanism ON public.revisions USING btree (mechanism);
CREATE INDEX ix_runs_revision ON public.runs USING btree (revision);
CREATE UNIQUE INDEX variables_by_name ON public.variables USING btree (graph, name);
ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT aliases_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.caches
    ADD CONSTRAINT caches_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.expanded_factors
    ADD CONSTRAINT expanded_factors_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.expanded_terms
    ADD CONSTRAINT expanded_terms_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.expansions
    ADD CONSTRAINT expansions_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.inputs
    ADD CONSTRAINT inputs_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.objects
    ADD CONSTRAINT objects_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.outputs
    ADD CONSTRAINT outputs_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.parameters
    ADD CONSTRAINT parameters_revision_fkey FOREIGN KEY (revision) REFERENCES public.revisions(id);
ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_mechanism_fkey FOREIGN KEY (mechanism) REFERENCES public.mechanisms(id);
ALTER TABLE ONLY public.revisions
    ADD CONSTRAINT revisions_model_fkey FOREIGN KEY (model) REFERENCES public.models(id);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_revision_fkey FOREIGN KEY (revision) REFERENCES public.revisions(id);
ALTER TABLE ONLY public.shapes
    ADD CONSTRAINT shapes_graph_fkey FOREIGN KEY (graph) REFERENCES public.graphs(id);
ALTER TABLE ONLY public.tags
    ADD CONSTRAINT tags_revision_fkey FOREIGN KEY (revision) REFERENCES public.revisions(id);
