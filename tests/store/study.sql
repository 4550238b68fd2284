-- The store of a small study, as outperform of commit e9f3d29 ran it, with the checksums and the whole
-- description of format 3.
BEGIN TRANSACTION;
CREATE TABLE measurements (
            id INTEGER PRIMARY KEY,  -- the order of recording
            key TEXT NOT NULL, pipeline TEXT NOT NULL, task TEXT NOT NULL, params TEXT NOT NULL, seeds TEXT NOT NULL, fold INTEGER NOT NULL, refit INTEGER NOT NULL, status TEXT NOT NULL CHECK (status IN ('done', 'failed')), scores TEXT NOT NULL, seconds REAL NOT NULL, error TEXT, started REAL NOT NULL, versions TEXT NOT NULL, score_checksum INTEGER NOT NULL, checksum INTEGER NOT NULL,
            UNIQUE (key)
        );
INSERT INTO "measurements" VALUES(1,'c11b79b07abc1263c2c949889c307858','a','toy','{"c":0.9882548592898934}','{"split":2676002425,"init":3672619509}',0,0,'done','{"valid":0.922,"test":0.922}',4.09209997087600640952e-05,NULL,1.79489662869949316982e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1974032728,456592453);
INSERT INTO "measurements" VALUES(2,'34191b4a37f5fed6d87eeec3e8352d65','a','toy','{"c":0.2367332049396611}','{"split":2676002425,"init":3672619509}',0,0,'done','{"valid":0.546,"test":0.546}',7.52020000618358608335e-05,NULL,1.79489662871059751513e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',492815301,1353322157);
INSERT INTO "measurements" VALUES(3,'6b7d7bce5a27f00d3978aa3a0d5017a8','b','toy','{}','{"split":2676002425,"init":3672619509}',0,1,'failed','{}',0.000576136999825394,'Traceback (most recent call last):
  File "outperform/runner/fitting.py", line 43, in __call__
    scores = pipeline.fit(
             ^^^^^^^^^^^^^
  File "outperform/study/pipelines.py", line 206, in fit
    scores = function(dict(params), split, honoured, **told)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "training.py", line 8, in fit_worse
    raise ValueError("a seed divisible by three")
ValueError: a seed divisible by three',1.79489662872677636145e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2016478084,1292266700);
INSERT INTO "measurements" VALUES(4,'d67d85a05b7dee21d323437ed4e3d2c2','a','toy','{"c":0.07124997077581974}','{"split":1913693675,"init":3383079886}',0,0,'done','{"valid":0.429,"test":0.429}',7.51410002521879505366e-05,NULL,1.79489662873457098005e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1365651448,3150714536);
INSERT INTO "measurements" VALUES(5,'5a3739190e90814205fffc6832b5c49b','a','toy','{"c":0.9551353210190664}','{"split":1913693675,"init":3383079886}',0,0,'done','{"valid":0.871,"test":0.871}',5.48909997633018065243e-05,NULL,1.7948966287465267181e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2462507921,3480960264);
INSERT INTO "measurements" VALUES(6,'db4e57ab4c7c4b48ae4b57e772227a0f','b','toy','{}','{"split":1913693675,"init":3383079886}',0,1,'done','{"test":0.394}',3.50920004166255239397e-05,NULL,1.79489662875069141394e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',991394258,2526621715);
INSERT INTO "measurements" VALUES(7,'603022ee990b7f6a341d99e8b59f9908','a','toy','{"c":0.2865801001366254}','{"split":1014194152,"init":2366712144}',0,0,'done','{"valid":0.419,"test":0.419}',4.8402000174974091351e-05,NULL,1.7948966287627649307e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1181504582,3289140198);
INSERT INTO "measurements" VALUES(8,'3ea5e7c59eb9a894dda4605710175385','a','toy','{"c":0.13658316030962947}','{"split":1014194152,"init":2366712144}',0,0,'done','{"valid":0.344,"test":0.344}',4.659900014303275384e-05,NULL,1.79489662877340102201e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',783875825,3922361769);
INSERT INTO "measurements" VALUES(9,'69cd3d3ea36ff13e481aa6842193e901','b','toy','{}','{"split":1014194152,"init":2366712144}',0,1,'failed','{}',3.2531399983781739138e-04,'Traceback (most recent call last):
  File "outperform/runner/fitting.py", line 43, in __call__
    scores = pipeline.fit(
             ^^^^^^^^^^^^^
  File "outperform/study/pipelines.py", line 206, in fit
    scores = function(dict(params), split, honoured, **told)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "training.py", line 8, in fit_worse
    raise ValueError("a seed divisible by three")
ValueError: a seed divisible by three',1.7948966287867398262e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',3898067319,239805849);
INSERT INTO "measurements" VALUES(10,'d820e1676d07a1d58f669e89d8ebf47d','a','toy','{"c":0.9882548592898934}','{"split":2676002425,"init":3672619509}',0,1,'done','{"valid":0.922,"test":0.922}',4.83120002172654494643e-05,NULL,1.79489662879871797558e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1818247958,1804482578);
INSERT INTO "measurements" VALUES(11,'a182930f774a358bd625a3a30c66aed1','a','toy','{"c":0.7894837884936772}','{"split":1326636938,"init":3017225162}',0,0,'done','{"valid":0.746,"test":0.746}',4.29429996984254103153e-05,NULL,1.7948966288056082725e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',3065252106,1951916594);
INSERT INTO "measurements" VALUES(12,'3e12f2b018098b523e08c39b1eb30a4f','a','toy','{"c":0.7791342596165479}','{"split":1326636938,"init":3017225162}',0,0,'done','{"valid":0.741,"test":0.741}',3.32989998241828288882e-05,NULL,1.7948966288106040954e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',533811455,3035440832);
INSERT INTO "measurements" VALUES(13,'e3e77e9e75f4ddd86229db5ded88215c','a','toy','{"c":0.9551353210190664}','{"split":1913693675,"init":3383079886}',0,1,'done','{"valid":0.871,"test":0.871}',3.89580000046407803893e-05,NULL,1.79489662882273817061e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2269642572,1653188819);
INSERT INTO "measurements" VALUES(14,'d90151d06f5a24905c0714efd1bf7351','b','toy','{}','{"split":1326636938,"init":3017225162}',0,1,'done','{"test":0.351}',3.40810001944191753864e-05,NULL,1.79489662882705307009e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',219335902,144215462);
INSERT INTO "measurements" VALUES(15,'53d0c7b3d8b038338a32a0df87dd6ff1','a','toy','{"c":0.3797369415044707}','{"split":3959472969,"init":1010815594}',0,0,'done','{"valid":0.308,"test":0.308}',4.18820000049890950322e-05,NULL,1.79489662883869576458e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1489693171,488758359);
INSERT INTO "measurements" VALUES(16,'796b41f209e55d30dcc8aaab3f8d23cc','a','toy','{"c":0.2865801001366254}','{"split":1014194152,"init":2366712144}',0,1,'done','{"valid":0.419,"test":0.419}',3.44709997079917229712e-05,NULL,1.79489662884266471865e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2377246030,70711465);
INSERT INTO "measurements" VALUES(17,'bc624c57a4737b59277a7fa14d98090f','a','toy','{"c":0.5647532294510531}','{"split":3959472969,"init":1010815594}',0,0,'done','{"valid":0.4,"test":0.4}',4.24729996666428633034e-05,NULL,1.79489662885683107381e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',3132521798,3582050406);
INSERT INTO "measurements" VALUES(18,'4757af2ead3d25216f6f8375d9cf43fd','b','toy','{}','{"split":3959472969,"init":1010815594}',0,1,'done','{"test":0.118}',4.07009997616114560514e-05,NULL,1.79489662887075853347e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',551668474,1654302506);
INSERT INTO "measurements" VALUES(19,'f7a0d3c78741d21564a47ed837015e3b','a','toy','{"c":0.8427163935805071}','{"split":4224343006,"init":1676637891}',0,0,'done','{"valid":0.617,"test":0.617}',6.0299000324448570609e-05,NULL,1.79489662888257479672e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1122068875,3231679258);
INSERT INTO "measurements" VALUES(20,'08a9b2872a7e5875148e90eca1d0e5ec','a','toy','{"c":0.7894837884936772}','{"split":1326636938,"init":3017225162}',0,1,'done','{"valid":0.746,"test":0.746}',4.50879997515585273504e-05,NULL,1.79489662888673543925e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',648353249,75898787);
INSERT INTO "measurements" VALUES(21,'34b1be7f0c91acd6353f29028c73337d','a','toy','{"c":0.1819450221489981}','{"split":4224343006,"init":1676637891}',0,0,'done','{"valid":0.286,"test":0.286}',6.28929997219529468566e-05,NULL,1.79489662890255117413e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2214186626,249912171);
INSERT INTO "measurements" VALUES(22,'6a78a43ff994a4e22816ff358f4a044a','b','toy','{}','{"split":4224343006,"init":1676637891}',0,1,'failed','{}',3.04173000131413573399e-04,'Traceback (most recent call last):
  File "outperform/runner/fitting.py", line 43, in __call__
    scores = pipeline.fit(
             ^^^^^^^^^^^^^
  File "outperform/study/pipelines.py", line 206, in fit
    scores = function(dict(params), split, honoured, **told)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "training.py", line 8, in fit_worse
    raise ValueError("a seed divisible by three")
ValueError: a seed divisible by three',1.79489662890688252451e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1873875414,2959565212);
INSERT INTO "measurements" VALUES(23,'7e3d64621a5e8d52bf6e8e48323d3862','a','toy','{"c":0.5}','{"split":2676002425,"init":3672619509}',0,1,'done','{"valid":0.678,"test":0.678}',5.8858000102191e-05,NULL,1.7948966289145879745e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2504250338,1288628074);
INSERT INTO "measurements" VALUES(24,'de76dfaf5c400e8530642242c101b85d','a','toy','{"c":0.5}','{"split":2676002425,"init":3383079886}',0,1,'done','{"valid":0.644,"test":0.644}',5.96380000388307962566e-05,NULL,1.79489662892419862749e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',906543528,2754949391);
INSERT INTO "measurements" VALUES(25,'1fe39a1efd2f9b642f37757a087a11d9','a','toy','{"c":0.5647532294510531}','{"split":3959472969,"init":1010815594}',0,1,'done','{"valid":0.4,"test":0.4}',2.11120000130904372781e-05,NULL,1.79489662892480087274e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',3312384421,3492676930);
INSERT INTO "measurements" VALUES(26,'8a197169befe5f1acb307067a51b172b','b','toy','{}','{"split":2676002425,"init":3383079886}',0,1,'done','{"test":0.394}',5.08859998262778390198e-05,NULL,1.79489662893051862713e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',3949304377,1713277547);
INSERT INTO "measurements" VALUES(27,'849217307775c3ed5d12b2e64d7d515c','a','toy','{"c":0.5}','{"split":2676002425,"init":2366712144}',0,1,'done','{"valid":0.526,"test":0.526}',6.19129996266565285623e-05,NULL,1.79489662894256782527e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',3798793899,2485568215);
INSERT INTO "measurements" VALUES(28,'4ff1f22df189cda032d1ac76d970770d','b','toy','{}','{"split":2676002425,"init":2366712144}',0,1,'failed','{}',3.27537000430311309173e-04,'Traceback (most recent call last):
  File "outperform/runner/fitting.py", line 43, in __call__
    scores = pipeline.fit(
             ^^^^^^^^^^^^^
  File "outperform/study/pipelines.py", line 206, in fit
    scores = function(dict(params), split, honoured, **told)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "training.py", line 8, in fit_worse
    raise ValueError("a seed divisible by three")
ValueError: a seed divisible by three',1.79489662895055341719e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2419219866,2385065677);
INSERT INTO "measurements" VALUES(29,'158c18a233aa9004eb5089becbe51e33','a','toy','{"c":0.8427163935805071}','{"split":4224343006,"init":1676637891}',0,1,'done','{"valid":0.617,"test":0.617}',6.40549997115158475935e-05,NULL,1.79489662895695161817e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',4253831633,1741622207);
INSERT INTO "measurements" VALUES(30,'18b4017eb1e09bbe4df90f1919a8571f','a','toy','{"c":0.5}','{"split":2676002425,"init":3672619509,"noise":3326825478}',0,1,'done','{"valid":0.678,"test":0.678}',6.28039997536689e-05,NULL,1.79489662896655440332e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1101568858,2540987970);
INSERT INTO "measurements" VALUES(31,'e52d7af4a6fbf95471b7fa53a4fd45e1','b','toy','{}','{"split":2676002425,"init":3672619509,"noise":3326825478}',0,1,'failed','{}',3.10991999867837876081e-04,'Traceback (most recent call last):
  File "outperform/runner/fitting.py", line 43, in __call__
    scores = pipeline.fit(
             ^^^^^^^^^^^^^
  File "outperform/study/pipelines.py", line 206, in fit
    scores = function(dict(params), split, honoured, **told)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "training.py", line 8, in fit_worse
    raise ValueError("a seed divisible by three")
ValueError: a seed divisible by three',1.79489662897854113576e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',2728216891,1381892558);
INSERT INTO "measurements" VALUES(32,'a96d66441f8aeb3a2a416da3ac615458','a','toy','{"c":0.5}','{"split":2676002425,"init":3672619509,"noise":1621074942}',0,1,'done','{"valid":0.678,"test":0.678}',4.06009999096568208187e-05,NULL,1.79489662897943425172e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',1515909339,3178021031);
INSERT INTO "measurements" VALUES(33,'7f6a07661c4ee2835b72def9c0774009','b','toy','{}','{"split":2676002425,"init":3672619509,"noise":1621074942}',0,1,'failed','{}',2.57843999861506745219e-04,'Traceback (most recent call last):
  File "outperform/runner/fitting.py", line 43, in __call__
    scores = pipeline.fit(
             ^^^^^^^^^^^^^
  File "outperform/study/pipelines.py", line 206, in fit
    scores = function(dict(params), split, honoured, **told)
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "training.py", line 8, in fit_worse
    raise ValueError("a seed divisible by three")
ValueError: a seed divisible by three',1.79489662898247933383e+09,'{"python":"3.11.7","outperform":"0.1.0","numpy":"2.4.6","scipy":"1.17.1","scikit-learn":"1.9.1"}',4227825123,2041710857);
CREATE TABLE meta (
            name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
        ) WITHOUT ROWID;
INSERT INTO "meta" VALUES('blocked','{}',1518395560);
INSERT INTO "meta" VALUES('study','{"name":"old","seed":0,"fingerprints":{"pipeline a":"299069ca6f419730babc556e9092d3ce","pipeline b":"f891535d8157c608506f353c541d0037","task toy":"130b82c96d11fdf06e66f67af611676b"},"spaces":{"a":"3c233d18e6e208870f8118ce7f79d31a","b":"9dc41d9f68ab3567acb314af25cc65e1"},"tasks":{"toy":{"metric":"accuracy","goal":"maximize"}},"pipelines":["a","b"],"kinds":["ideal","variance"],"settings":["Ideal(n_replicates=6, kind=''ideal'')","Variance(n_replicates=3, n_searches=0, sources=(), kind=''variance'')"],"search":"random search, 2 trials","divided":{"toy":null},"n_fits":33,"prices":{"ideal":[["a","toy",18],["b","toy",6]],"variance":[["a","toy",5],["b","toy",5]],"fix-hopt":[["a","toy",8],["b","toy",6]]},"designs":[{"design":"ideal","source":"all","replicates":6},{"design":"variance","source":"init","replicates":3},{"design":"variance","source":"all","replicates":3},{"design":"variance","source":"noise","replicates":3}],"sizes":{},"plan":null,"files":{}}',736799985);
CREATE TABLE run_labels (
            design TEXT NOT NULL,
            source TEXT NOT NULL,
            replicate INTEGER NOT NULL,
            pipeline TEXT NOT NULL,
            task TEXT NOT NULL,
            key TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (design, source, replicate, pipeline, task)
        ) WITHOUT ROWID;
INSERT INTO "run_labels" VALUES('ideal','all',0,'a','toy','d820e1676d07a1d58f669e89d8ebf47d',3238447941);
INSERT INTO "run_labels" VALUES('ideal','all',0,'b','toy','6b7d7bce5a27f00d3978aa3a0d5017a8',2748562201);
INSERT INTO "run_labels" VALUES('ideal','all',1,'a','toy','e3e77e9e75f4ddd86229db5ded88215c',216835736);
INSERT INTO "run_labels" VALUES('ideal','all',1,'b','toy','db4e57ab4c7c4b48ae4b57e772227a0f',2784297559);
INSERT INTO "run_labels" VALUES('ideal','all',2,'a','toy','796b41f209e55d30dcc8aaab3f8d23cc',3664695845);
INSERT INTO "run_labels" VALUES('ideal','all',2,'b','toy','69cd3d3ea36ff13e481aa6842193e901',3314120343);
INSERT INTO "run_labels" VALUES('ideal','all',3,'a','toy','08a9b2872a7e5875148e90eca1d0e5ec',1318181206);
INSERT INTO "run_labels" VALUES('ideal','all',3,'b','toy','d90151d06f5a24905c0714efd1bf7351',731961433);
INSERT INTO "run_labels" VALUES('ideal','all',4,'a','toy','1fe39a1efd2f9b642f37757a087a11d9',3895948110);
INSERT INTO "run_labels" VALUES('ideal','all',4,'b','toy','4757af2ead3d25216f6f8375d9cf43fd',3308740831);
INSERT INTO "run_labels" VALUES('ideal','all',5,'a','toy','158c18a233aa9004eb5089becbe51e33',4230497557);
INSERT INTO "run_labels" VALUES('ideal','all',5,'b','toy','6a78a43ff994a4e22816ff358f4a044a',1202330370);
INSERT INTO "run_labels" VALUES('variance','all',0,'a','toy','7e3d64621a5e8d52bf6e8e48323d3862',464943620);
INSERT INTO "run_labels" VALUES('variance','all',0,'b','toy','6b7d7bce5a27f00d3978aa3a0d5017a8',3075866831);
INSERT INTO "run_labels" VALUES('variance','all',1,'a','toy','de76dfaf5c400e8530642242c101b85d',3894247012);
INSERT INTO "run_labels" VALUES('variance','all',1,'b','toy','8a197169befe5f1acb307067a51b172b',3174997429);
INSERT INTO "run_labels" VALUES('variance','all',2,'a','toy','849217307775c3ed5d12b2e64d7d515c',4208543216);
INSERT INTO "run_labels" VALUES('variance','all',2,'b','toy','4ff1f22df189cda032d1ac76d970770d',3875298004);
INSERT INTO "run_labels" VALUES('variance','init',0,'a','toy','7e3d64621a5e8d52bf6e8e48323d3862',3333617475);
INSERT INTO "run_labels" VALUES('variance','init',0,'b','toy','6b7d7bce5a27f00d3978aa3a0d5017a8',1783795080);
INSERT INTO "run_labels" VALUES('variance','init',1,'a','toy','de76dfaf5c400e8530642242c101b85d',890893091);
INSERT INTO "run_labels" VALUES('variance','init',1,'b','toy','8a197169befe5f1acb307067a51b172b',1614418162);
INSERT INTO "run_labels" VALUES('variance','init',2,'a','toy','849217307775c3ed5d12b2e64d7d515c',668846263);
INSERT INTO "run_labels" VALUES('variance','init',2,'b','toy','4ff1f22df189cda032d1ac76d970770d',1006163859);
INSERT INTO "run_labels" VALUES('variance','noise',0,'a','toy','7e3d64621a5e8d52bf6e8e48323d3862',1574103580);
INSERT INTO "run_labels" VALUES('variance','noise',0,'b','toy','6b7d7bce5a27f00d3978aa3a0d5017a8',4046622935);
INSERT INTO "run_labels" VALUES('variance','noise',1,'a','toy','18b4017eb1e09bbe4df90f1919a8571f',3611564213);
INSERT INTO "run_labels" VALUES('variance','noise',1,'b','toy','e52d7af4a6fbf95471b7fa53a4fd45e1',2459156488);
INSERT INTO "run_labels" VALUES('variance','noise',2,'a','toy','a96d66441f8aeb3a2a416da3ac615458',519646946);
INSERT INTO "run_labels" VALUES('variance','noise',2,'b','toy','7f6a07661c4ee2835b72def9c0774009',2913598521);
CREATE INDEX progress ON measurements (pipeline, task, status);
COMMIT;
PRAGMA application_id = 1869968496;
PRAGMA user_version = 3;
