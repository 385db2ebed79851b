;; SPDX-License-Identifier: Apache-2.0
(ns skein.console.browser-test
  "The page in headless Chromium. In each test it must log no error, and send requests to its console only."
  (:require
   [clojure.java.io :as io]
   [clojure.string :as str]
   [clojure.test :refer [deftest is testing]]
   [skein.async :as a :refer [<! <!! >! chan go]]
   [skein.browser :as b]
   [skein.console :as console]
   [skein.console.target :as target]
   [skein.inspect :as inspect]
   [skein.skip :refer [skip!]])
  (:import
   (com.sun.net.httpserver HttpExchange HttpHandler HttpServer)
   (java.io Closeable File)
   (java.net InetAddress InetSocketAddress)))

(set! *warn-on-reflection* true)

(defn- own?
  "Returns whether the page may request this URL."
  [{:keys [port]} url]
  (or (str/starts-with? url (str "http://127.0.0.1:" port "/")) (re-find #"^(?:about|blob|data):" url)))

(defn- visit
  "Opens the page of a console in a browser, calls `f` with it, and asserts that the page had no error."
  [console f]
  (if (b/program)
    (b/with-browser [browser]
      (b/look! browser 1280 720 "light")
      (b/open! browser (:url console))
      (b/wait-for! browser "!!document.querySelector('h1')")
      (f browser)
      (is (= [] (b/heard browser)))
      (is (= [] (remove (partial own? console) (b/asked browser)))))
    (skip! "there is no headless Chromium")))

(defmacro ^:private with-page
  "Evaluates the body with the page of a console open in a browser."
  [[browser console] & body]
  `(with-open [^Closeable console# ~console]
     (visit console# (fn [~browser] ~@body))))

(defn- with-target [t]
  (with-redefs [target/target (constantly (merge {:name "a test" :live? true :paths (constantly []) :close! (fn [])} t))]
    (console/serve! {:actions #{:prove}})))

(defn- snapshot [more]
  (merge {:skein/snapshot 1 :at-ms (System/currentTimeMillis) :blocks [] :threads [] :channels [] :scopes [] :failures [] :timers 0 :locks []
          :folds [] :collected {:count 0 :blocks []}}
         more))

(defn- parked [id more]
  (merge {:id id :state :parked :site {:file "shop.clj" :line (inc (mod id 5)) :form "(<! orders)" :op "<!"} :waits [{:op :take :channel 1 :place 1}]
          :since-ms (* 10 (long id)) :age-ms (* 10 (long id)) :runs 1}
         more))

(defn- text [browser selector]
  (b/js browser (str "[...document.querySelectorAll('" selector "')].map(e => e.textContent).join('|')")))

(defn- go-to!
  "Opens a view, and waits until the page shows it. The view before is removed first, so that no test finds it."
  [browser hash]
  (b/js browser (str "document.querySelector('main').replaceChildren(); location.hash = '" hash "'"))
  (b/wait-for! browser "/\\S/.test(document.querySelector('main').textContent.replace('Looking …', ''))"))

;;;; A deadlock

(defn- exchange []
  (let [orders (chan 1) replies (chan 1)]
    (go (>! orders 1) (>! orders 2) (<! replies))
    (go (>! replies 1) (>! replies 2) (<! orders))))

(deftest a-proven-deadlock-is-red-with-its-sentence-and-its-line
  (inspect/stop!)
  (let [hung (doto (Thread. ^Runnable (fn hang [] (try (<!! (exchange)) (catch InterruptedException _)))) (.setDaemon true))]
    (with-page [page (let [c (console/serve! {:actions #{:prove}})] (.start hung) c)]
      (b/eventually "proven" (fn [] (b/js page "document.querySelector('[data-act=prove]')?.click()")
                               (Thread/sleep 100)
                               (str/includes? (text page ".finding.proven .kind") "deadlock")))
      (is (re-find #"never end" (text page "h1")))
      (is (re-find #"can never continue" (text page ".finding.proven .says")))
      (is (re-find #"\(>! replies 2\)" (text page ".finding.proven .source .here")))
      (b/screenshot! page "target/console/deadlock.png")
      (go-to! page "#/graph")
      (b/wait-for! page "document.querySelectorAll('.node.proven').length > 1")
      (is (re-find #"PROVEN" (text page ".node.proven")) "not by colour alone")
      (testing "a put, closing or an interrupt could still end the wait for the result"
        (is (re-find #"AWAITS" (text page ".node.thread")))
        (is (re-find #"Awaits: " (text page "main .quiet")))
        (is (= ["block" "block"] (b/js page "[...document.querySelectorAll('.node.proven')].map((e) => e.classList[1])"))))
      (go-to! page (b/js page "document.querySelector('.node.block.proven').getAttribute('href')"))
      (b/wait-for! page "/^go-/.test(document.querySelector('h1')?.textContent)")
      (is (re-find #"proven" (text page ".badge"))))
    (.interrupt hung)
    (inspect/stop!)))

;;;; Hostile text

(def ^:private hostile
  ["<script>window.evil=1</script>" "<img src=x onerror=window.evil=1>" "\"><svg onload=window.evil=1>" "javascript:window.evil=1" "</title><script>evil=1</script>"
   "${window.evil=1}" "{{evil}}" "' onclick='evil=1" "&lt;b&gt;" "<a href=javascript:evil=1>x</a>" "\u0000\u0001" "\u202Eevil" "go-1\" onmouseover=evil=1"
   "<style>*{display:none}</style>" "<base href=//evil.example>" "<meta http-equiv=refresh content=0>" "<!--" "]]>" "\\u003cscript\\u003e" "<iframe srcdoc='<script>parent.evil=1</script>'>"])

(deftest hostile-text-is-text
  (let [blocks (map-indexed (fn [i t] (parked (inc (long i)) {:site {:file t :line 1 :form t :op "<!"} :waits [{:op :take :channel (inc (long i)) :place 1}]})) hostile)
        channels (map-indexed (fn [i t] {:id (inc (long i)) :kind :chan :label t :closed? false :takes [{:block (inc (long i))}] :puts [{:thread t :tid 5} {:callback t}]}) hostile)
        whole (snapshot {:blocks (vec blocks) :channels (vec channels)
                         :threads (vec (map-indexed (fn [i t] {:name t :tid i :site {:file t :line 1} :waits [{:op :take :channel 1}] :since-ms 1}) hostile))
                         :failures (mapv (fn [t] {:at-ms 0 :thread t :exception t :site {:file t :line 1}}) hostile)
                         :collected {:count 20 :blocks (vec (map-indexed (fn [i t] {:id (+ 100 (long i)) :op :put :site {:file t :line 2 :form t}}) hostile))}})]
    (with-page [page (with-target {:name (first hostile) :look (constantly whole)})]
      (doseq [hash ["#/overview" "#/problems" "#/sites" "#/blocks" "#/channels" "#/threads" "#/graph" "#/scopes" "#/timeline" "#/compare" "#/block/1" "#/block/2"
                    "#/channel/1" "#/<img src=x onerror=window.evil=1>" "#/blocks?q=%3Cimg src=x onerror=window.evil=1%3E" "#/graph?of=<script>"]]
        (go-to! page hash)
        (is (= [false 0] (b/js page "[window.evil !== undefined, document.querySelectorAll('main img, main script, main iframe, main style, base').length]")) hash))
      (go-to! page "#/channels")
      (is (str/includes? (text page ".row .name") (first hostile))))))

;;;; Pages of other sites

(defn- other-page
  "Starts a server whose page tries to read a console. The page's result is delivered to the promise."
  ^HttpServer [{:keys [url port]} got]
  (let [token (second (re-find #"#t=(.+)" url))
        page (str "<!doctype html><script type=module>const get = async (u, o) => { try { const r = await fetch(u, o); return [r.type, r.status, await r.text()]; } catch (e) { return 'refused'; } };"
                  "const at = 'http://127.0.0.1:" port "';"
                  "const all = [await get(at + '/api/blocks'), await get(at + '/api/blocks', {headers: {Authorization: 'Bearer " token "'}}), await get(at + '/'),"
                  "  await get(at + '/', {mode: 'no-cors'}), await import(at + '/dom.js').catch(() => 'refused')];"
                  "await fetch('/got', {method: 'POST', body: JSON.stringify(all)});</script>")]
    (doto (HttpServer/create (InetSocketAddress. (InetAddress/getByName "127.0.0.1") 0) 0)
      (.createContext "/" (reify HttpHandler
                            (handle [_ exchange]
                              (let [^HttpExchange exchange exchange]
                                (when (= "/got" (.getPath (.getRequestURI exchange))) (deliver got (slurp (.getRequestBody exchange))))
                                (.set (.getResponseHeaders exchange) "Content-Type" "text/html")
                                (.sendResponseHeaders exchange 200 0)
                                (with-open [out (.getResponseBody exchange)] (.write out (.getBytes page)))))))
      .start)))

(deftest a-page-of-another-port-gets-nothing
  (let [console (with-target {:look (fn [_] (snapshot {}))})
        got (promise)
        other (other-page console got)]
    (try
      (if (b/program)
        (b/with-browser [browser]
          (b/call! browser "Page.navigate" {"url" (str "http://127.0.0.1:" (.getPort (.getAddress other)) "/")})
          (is (= "[\"refused\",\"refused\",\"refused\",\"refused\",\"refused\"]" (deref got 30000 "late"))))
        (skip! "there is no headless Chromium"))
      (finally (.stop other 0) (.close ^Closeable console)))))

;;;; Many blocks

(deftest large-tables-load-the-rows-in-view
  (let [many (snapshot {:blocks (mapv (fn [i] (parked i nil)) (range 1 100001))
                        :channels [{:id 1 :kind :chan :label "orders" :closed? false :takes [] :puts []}]})]
    (with-page [page (with-target {:live? false :look (constantly many)})]
      (go-to! page "#/blocks")
      (b/wait-for! page "document.querySelector('.rows a')?.textContent.startsWith('go-100000')")
      (b/js page "document.querySelector('.scroll').scrollTop = 1e9")
      (b/wait-for! page "[...document.querySelectorAll('.rows a')].some(e => e.textContent.startsWith('go-1parked'))")
      (is (> 250 (b/js page "document.querySelectorAll('.rows a').length")))
      (go-to! page "#/blocks?sort=id")
      (b/wait-for! page "document.querySelector('.rows a')?.textContent.startsWith('go-1parked')")
      (go-to! page "#/blocks?q=site%3Ashop.clj%3A3 since%3E999s")
      (b/wait-for! page "document.querySelector('.filter .quiet')?.textContent === '20 blocks'")
      (go-to! page "#/sites")
      (b/wait-for! page "document.querySelectorAll('.rows a').length === 5")
      (is (str/includes? (text page ".rows a") "20,000")))))

;;;; The target starts and ends

(deftest page-says-looking-before-the-first-look
  (let [looked (promise)
        console (with-target {:look (fn [_] (deref looked 60000 nil) (snapshot {:blocks [(parked 7 nil)]}))})]
    (try
      (if (b/program)
        (b/with-browser [page]
          (b/open! page (:url console))
          (b/wait-for! page "document.querySelector('.target')?.textContent === 'a test'")
          (is (= "looking …" (text page ".status")))
          (is (not (re-find #"wrong|No block" (text page "body"))))
          (deliver looked true)
          (b/wait-for! page "document.querySelector('.status').textContent === 'live'")
          (b/wait-for! page "document.querySelector('h1')?.textContent.startsWith('No problem found.')"))
        (skip! "there is no headless Chromium"))
      (finally (deliver looked true) (.close ^Closeable console)))))

(deftest hidden-page-takes-no-looks
  (let [n (atom 0)]
    (with-page [page (with-target {:look (fn [_] (swap! n inc) (snapshot {}))})]
      (b/eventually "two looks" (fn [] (< 1 (long @n))))
      (b/js page "Object.defineProperty(document, 'hidden', {value: true, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))")
      (b/eventually "no look in three seconds"
        (fn [] (let [before @n] (Thread/sleep 3000) (= before @n))))
      (b/js page "delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
      (let [before @n]
        (b/eventually "looks again" (fn [] (< (long before) (long @n))))))))

(deftest last-look-stays-when-the-target-ends
  (let [alive (atom true)]
    (with-page [page (with-target {:look (fn [_] (if @alive
                                                   (snapshot {:blocks [(parked 7 nil)]})
                                                   (throw (ex-info "Process 7 has ended." {:skein/error :skein/not-inspectable}))))})]
      (go-to! page "#/blocks")
      (b/wait-for! page "document.querySelectorAll('.rows a').length === 1")
      (reset! alive false)
      (b/wait-for! page "document.querySelector('#banner').textContent.includes('Process 7 has ended.')")
      (is (= "no answer" (text page ".status")))
      (is (re-find #"go-7" (text page ".rows a"))))))

(deftest timeline-of-a-file-offers-no-recording
  (doseq [[live? says] {false "A file has no timeline." true "A file has no timeline.|Start the console with --record to get a button for that."}]
    (with-page [page (with-target {:live? live? :look (constantly (snapshot {}))})]
      (go-to! page "#/timeline")
      (is (= says (text page "main p"))))))

(deftest timeline-draws-the-steps-of-threads-among-many-waits
  (let [slices (concat (for [i (range 7000)] {:at-us 0 :us 9000 :kind :wait :block i})
                       (for [i (range 100), tid [1 2]] {:at-us (* 10 (long i)) :us 5 :kind :run :block tid :thread (str "worker-" tid) :tid tid}))
        rows (fn rows [page] (b/js page "(parseInt(document.querySelector('#timeline')?.style.height) - 24) / 20"))]
    (with-page [page (with-target {:look (constantly (snapshot {})) :timeline (fn [_] {:slices slices})})]
      (go-to! page "#/timeline")
      (b/eventually "a row for each thread" (fn [] (= 2 (rows page))))
      (is (re-find #"200 steps in " (text page "main .quiet")))
      (go-to! page "#/timeline?by=blocks")
      (b/eventually "a row for each of the busiest blocks" (fn [] (= 60 (rows page))))
      (is (re-find #"steps and waits of the 60 busiest of 7,000 blocks, in " (text page "main .quiet"))))))

;;;; Accessibility

(def ^:private ten
  (delay (snapshot {:blocks (mapv (fn [i] (parked i nil)) (range 1 11))
                    :threads [{:name "main" :tid 1 :site {:file "main.clj" :line 3} :waits [{:op :take :channel 1}] :since-ms 50}]
                    :channels [{:id 1 :kind :chan :label "orders" :closed? false :takes (mapv (fn [i] {:block i}) (range 1 11)) :puts []
                                :buffer {:type 'FixedBuffer :count 4 :capacity 4}}]
                    :scopes [{:id 9 :body {:thread "main" :tid 1} :children [{:block 1}] :cancelled? true :cancelled-ms 9000 :failures 1}]
                    :collected {:count 1 :blocks [{:id 20 :op :put :site {:file "shop.clj" :line 2 :form "(>! orders x)"}}]}
                    :folds [{:thread "main" :tid 1 :since-ms 5 :done 4 :total 9 :unit :elements}]
                    :failures [{:at-ms 0 :thread "t" :exception "java.lang.Error" :site {:file "shop.clj" :line 8}}]})))

(deftest page-works-with-the-keyboard-alone
  (with-page [page (with-target {:look (fn [_] @ten)})]
    (let [waits (fn waits [js] (b/wait-for! page js))]
      (b/key! page "3")
      (waits "location.hash === '#/sites' && !!document.querySelector('.rows a')")
      (b/key! page "j")
      (waits "document.activeElement.dataset.row === '0'")
      (b/key! page "j")
      (waits "document.activeElement.dataset.row === '1'")
      (b/key! page "k")
      (b/key! page "Enter")
      (waits "location.hash.startsWith('#/blocks?q=site') && document.querySelectorAll('.rows a').length === 2")
      (b/key! page "j")
      (waits "document.activeElement.dataset.row === '0'")
      (b/key! page "Enter")
      (waits "/^go-/.test(document.querySelector('h1')?.textContent)")
      (b/key! page "Escape")
      (waits "location.hash.startsWith('#/blocks')")
      (waits "!!document.querySelector('#q')")
      (b/key! page "/")
      (waits "document.activeElement.id === 'q'")
      (b/type! page "parent:4")
      (b/key! page "Enter")
      (waits "document.querySelector('main').textContent.includes('No block matches the filter.')")
      (b/key! page "Escape")
      (b/key! page "?")
      (waits "document.querySelector('#help').open"))))

(def ^:private faults
  "JavaScript that returns the elements with too little contrast or without a name."
  "(() => {
     const rgb = (s) => (s.match(/[\\d.]+/g) || []).map(Number);
     const light = ([r, g, b]) => [r, g, b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
     const ground = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; };
     const found = [];
     for (const e of document.querySelectorAll('body *')) {
       const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
       if (own && e.getClientRects().length && !e.closest('svg')) {
         const [a, b] = [light(rgb(getComputedStyle(e).color)), light(ground(e))];
         const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
         if (ratio < 4.5) found.push(`${e.className || e.nodeName} ${ratio.toFixed(1)}: ${e.textContent.slice(0, 30)}`);
       }
     }
     for (const e of document.querySelectorAll('a, button')) if (!(e.textContent.trim() || e.getAttribute('aria-label'))) found.push(`no name: ${e.outerHTML}`);
     for (const e of document.querySelectorAll('input')) if (!document.querySelector(`label[for=${e.id}]`)) found.push(`no label: ${e.id}`);
     for (const e of document.querySelectorAll('[role=img], [role=region], nav, dialog')) if (!e.getAttribute('aria-label')) found.push(`no label: ${e.outerHTML.slice(0, 80)}`);
     if (document.documentElement.scrollWidth > innerWidth) found.push('it is too wide');
     return found; })()")

(deftest elements-have-contrast-and-names
  (with-page [page (with-target {:look (fn [_] @ten)})]
    (doseq [[width scheme] [[1280 "light"] [1280 "dark"] [800 "light"]]
            hash ["#/overview" "#/problems" "#/sites" "#/blocks" "#/channels" "#/threads" "#/graph" "#/scopes" "#/timeline" "#/compare" "#/block/3" "#/channel/1"]]
      (b/look! page width 720 scheme)
      (go-to! page hash)
      (b/wait-for! page (str "document.querySelector('main').childElementCount > 0 && document.querySelector('main').className === '" (re-find #"[a-z]+" hash) "'"))
      (testing (str hash " " width " " scheme)
        (is (= [] (b/js page faults)))))))
