"""Words of pages that replace another page, by language and kind.

Plain phrases in lower case between bars; `*` matches any end of a word. Kinds: `error` (not found, not allowed,
failed), `unavailable` (which may be the stock of a shop), `maintenance`, `login`, `redirect`, `loading`, `consent`
(before the page is shown), `challenge` (is a human looking?). They are only ever evidence (see `walls`):
pages also write about errors and logins.
"""

from __future__ import annotations

from collections.abc import Mapping

UNSPACED = frozenset({"ja", "zh", "th"})
"""Languages written without spaces between words."""

_TABLE = """
en error page not found|not found|page does not exist|page doesn't exist|page isn't available|page is not available
  |page could not be found|page can't be found|page cannot be found|access denied|forbidden|something went wrong
  |an error occurred|internal server error|bad gateway|service unavailable|too many requests|temporarily unavailable
  |application error|unauthorized|bad request|gateway timeout
en unavailable no longer available
en maintenance under maintenance|down for maintenance|scheduled maintenance|site maintenance|maintenance mode
  |we'll be back soon|we will be back soon|be right back
en login log in|sign in|login|sign in to continue|log in to continue|please log in|please sign in
en redirect redirecting|you are being redirected|you will be redirected|you should be redirected|being redirected
  |if you are not redirected|moved permanently|page has moved|object moved
en loading loading|please wait
en consent before you continue|accept cookies to continue|we value your privacy
en challenge just a moment|checking your browser|verify you are human|verifying you are human|are you a robot
  |security check|attention required|confirm you are human
de error seite nicht gefunden|nicht gefunden|seite wurde nicht gefunden|seite existiert nicht|zugriff verweigert
  |zugriff nicht erlaubt|ein fehler ist aufgetreten|fehler aufgetreten|etwas ist schiefgelaufen|interner serverfehler
  |dienst nicht verfügbar|zu viele anfragen|fehlermeldung
de unavailable nicht verfügbar|nicht mehr verfügbar
de maintenance wartungsarbeiten|wartungsmodus|wegen wartung*|wir sind bald zurück|wir sind gleich zurück
de login anmelden|einloggen|anmeldung|bitte melden sie sich an|login
de redirect weiterleitung|sie werden weitergeleitet|du wirst weitergeleitet|umleitung|seite ist umgezogen
de loading wird geladen|lädt|laden|bitte warten
de consent bevor sie fortfahren|bevor du fortfährst|bevor sie zu|wir schätzen ihre privatsphäre
de challenge einen moment bitte|sicherheitsüberprüfung|sicherheitsabfrage|bist du ein mensch|sind sie ein mensch
  |ihr browser wird überprüft
fr error page introuvable|page non trouvée|n'existe pas|n'existe plus|accès refusé|accès interdit
  |une erreur s'est produite|une erreur est survenue|service indisponible|erreur interne|erreur du serveur
  |trop de requêtes
fr unavailable n'est plus disponible|n'est pas disponible
fr maintenance en maintenance|site en maintenance|maintenance en cours|en cours de maintenance|de retour bientôt
  |bientôt de retour
fr login connexion|se connecter|connectez-vous|identifiez-vous|identification
fr redirect redirection|vous allez être redirigé*|vous êtes redirigé*|page a été déplacée|redirection en cours
fr loading chargement|chargement en cours|veuillez patienter|patientez
fr consent avant de continuer|avant de poursuivre|nous respectons votre vie privée
fr challenge un instant|êtes-vous un humain|vérification de sécurité|vérification de votre navigateur
  |vérifiez que vous êtes humain
es error página no encontrada|no encontrada|no se ha encontrado|no se encontró|no existe|acceso denegado
  |ha ocurrido un error|se ha producido un error|se produjo un error|algo salió mal|algo ha salido mal
  |servicio no disponible|error interno|demasiadas solicitudes
es unavailable no está disponible|ya no está disponible
es maintenance en mantenimiento|mantenimiento programado|tareas de mantenimiento|volvemos pronto|volveremos pronto
es login iniciar sesión|inicia sesión|inicie sesión|inicio de sesión|acceder|identifícate
es redirect redirigiendo|redireccionando|será redirigid*|serás redirigid*|la página se ha movido
es loading cargando|espere por favor|por favor espere|espera un momento|un momento por favor
es consent antes de continuar|valoramos tu privacidad|valoramos su privacidad
es challenge un momento|verificación de seguridad|comprobando su navegador|verifica que eres humano
  |verifique que es humano|eres un robot
it error pagina non trovata|non trovata|pagina non esiste|pagina inesistente|accesso negato|si è verificato un errore
  |qualcosa è andato storto|servizio non disponibile|errore interno|errore del server|troppe richieste
it unavailable non è disponibile|non è più disponibile
it maintenance in manutenzione|manutenzione in corso|manutenzione programmata|torniamo presto|torneremo presto
it login accedi|accesso|effettua il login|entra nel tuo account|accedere
it redirect reindirizzamento|sarai reindirizzat*|verrai reindirizzat*|pagina è stata spostata
it loading caricamento|caricamento in corso|attendere prego|si prega di attendere|attendi
it consent prima di continuare|teniamo alla tua privacy|la tua privacy è importante
it challenge un momento|un attimo|controllo di sicurezza|verifica di sicurezza|verifica di essere umano|sei un robot
  |verifica che sei umano
pt error página não encontrada|não encontrada|não foi encontrada|não existe|acesso negado|ocorreu um erro
  |algo deu errado|algo correu mal|erro interno|muitas solicitações|demasiados pedidos
pt unavailable não está disponível|indisponível|não está mais disponível
pt maintenance em manutenção|manutenção programada|voltamos em breve|voltaremos em breve
pt login entrar|iniciar sessão|fazer login|faça login|inicie sessão|acessar conta
pt redirect redirecionando|a redirecionar|será redirecionad*|redirecionamento|a página foi movida
pt loading carregando|a carregar|aguarde|por favor aguarde
pt consent antes de continuar|valorizamos a sua privacidade|valorizamos sua privacidade
pt challenge um momento|só um momento|verificação de segurança|confirme que é humano|verifique se você é humano
nl error pagina niet gevonden|niet gevonden|kon niet worden gevonden|pagina bestaat niet|bestaat niet meer
  |toegang geweigerd|er is een fout opgetreden|er is iets misgegaan|er ging iets mis|interne serverfout
  |te veel verzoeken
nl unavailable niet beschikbaar|niet meer beschikbaar
nl maintenance onderhoud|in onderhoud|onderhoudswerkzaamheden|we zijn zo terug|we zijn snel terug
nl login inloggen|aanmelden|log in|meld je aan|meld u aan
nl redirect u wordt doorgestuurd|je wordt doorgestuurd|doorverwijzing|doorsturen|pagina is verplaatst
nl loading laden|bezig met laden|een ogenblik geduld|even geduld|even wachten
nl consent voordat je verdergaat|voordat u verdergaat|wij waarderen uw privacy
nl challenge een moment geduld|een ogenblik|beveiligingscontrole|ben je een mens|ben je een robot
  |controleer of u een mens bent
sv error sidan hittades inte|sidan kunde inte hittas|hittades inte|sidan finns inte|finns inte längre|åtkomst nekad
  |ett fel har inträffat|ett fel inträffade|ett fel uppstod|något gick fel|internt serverfel|för många förfrågningar
sv unavailable inte tillgänglig
sv maintenance underhåll pågår|under underhåll|planerat underhåll|vi är snart tillbaka|strax tillbaka
sv login logga in|inloggning|var god logga in
sv redirect omdirigering|du omdirigeras|du skickas vidare|du kommer att skickas vidare|sidan har flyttat*
sv loading laddar|läser in|vänta|var god vänta
sv consent innan du fortsätter|vi värnar om din integritet
sv challenge ett ögonblick|säkerhetskontroll|är du en människa|verifiera att du är en människa
da error siden blev ikke fundet|siden findes ikke|ikke fundet|siden kunne ikke findes|adgang nægtet|der opstod en fejl
  |der er opstået en fejl|noget gik galt|intern serverfejl
da unavailable ikke tilgængelig
da maintenance under vedligeholdelse|planlagt vedligeholdelse|vedligeholdelse|vi er snart tilbage
da login log ind|log på|indlogning
da redirect omdirigerer|du bliver omdirigeret|du viderestilles|viderestilling|siden er flyttet
da loading indlæser|henter|vent venligst|vent et øjeblik
da consent før du fortsætter|inden du fortsætter|vi værner om dit privatliv
da challenge et øjeblik|sikkerhedskontrol|er du et menneske|bekræft at du er et menneske
nb error siden ble ikke funnet|siden finnes ikke|ikke funnet|fant ikke siden|ingen tilgang|tilgang nektet
  |det oppstod en feil|det har oppstått en feil|noe gikk galt|intern serverfeil
nb unavailable ikke tilgjengelig
nb maintenance under vedlikehold|planlagt vedlikehold|vedlikehold pågår|vi er snart tilbake
nb login logg inn|logg på|innlogging|pålogging
nb redirect omdirigerer|du blir omdirigert|du blir sendt videre|videresending|siden er flyttet
nb loading laster|laster inn|vennligst vent|vent litt
nb consent før du fortsetter|vi verner om personvernet ditt
nb challenge et øyeblikk|sikkerhetskontroll|er du et menneske|bekreft at du er et menneske
fi error sivua ei löydy|sivua ei löytynyt|ei löytynyt|sivua ei ole|pääsy estetty|pääsy kielletty|tapahtui virhe
  |jokin meni pieleen|jotain meni pieleen|palvelinvirhe
fi unavailable ei ole saatavilla|ei ole käytettävissä
fi maintenance huoltokatko|huoltotauko|huollossa|palaamme pian|huoltotyöt
fi login kirjaudu|kirjaudu sisään|sisäänkirjautuminen|kirjautuminen
fi redirect uudelleenohjaus|sinut ohjataan|uudelleenohjataan|sivu on siirretty|sivu on siirtynyt
fi loading ladataan|odota|odota hetki
fi consent ennen kuin jatkat|arvostamme yksityisyyttäsi
fi challenge hetkinen|pieni hetki|turvatarkistus|oletko ihminen|vahvista olevasi ihminen
pl error nie znaleziono|strona nie istnieje|strony nie znaleziono|nie odnaleziono|odmowa dostępu|brak dostępu
  |wystąpił błąd|coś poszło nie tak|błąd serwera|zbyt wiele żądań
pl unavailable niedostępn*
pl maintenance przerwa techniczna|prace konserwacyjne|prace serwisowe|w trakcie konserwacji|zaraz wracamy
  |wkrótce wracamy|konserwacja
pl login zaloguj|zaloguj się|logowanie
pl redirect przekierowanie|przekierowywanie|zostaniesz przekierowan*|strona została przeniesiona
pl loading ładowanie|wczytywanie|trwa ładowanie|proszę czekać|czekaj
pl consent zanim przejdziesz dalej|zanim będziesz kontynuować|cenimy twoją prywatność|cenimy prywatność
pl challenge chwileczkę|jeszcze chwila|kontrola bezpieczeństwa|weryfikacja bezpieczeństwa
  |potwierdź, że jesteś człowiekiem|czy jesteś robotem|czy jesteś człowiekiem
cs error stránka nenalezena|stránka nebyla nalezena|nenalezen*|stránka neexistuje|přístup odepřen|přístup zamítnut
  |došlo k chybě|něco se pokazilo|nastala chyba|chyba serveru
cs unavailable není k dispozici|není dostupn*
cs maintenance údržba|probíhá údržba|plánovaná údržba|brzy budeme zpět|brzy se vrátíme
cs login přihlásit|přihlásit se|přihlášení|přihlaste se
cs redirect přesměrování|budete přesměrován*|přesměrováváme|stránka byla přesunuta
cs loading načítání|načítá se|načítám|čekejte prosím|prosím čekejte
cs consent než budete pokračovat|vážíme si vašeho soukromí
cs challenge moment prosím|okamžik prosím|bezpečnostní kontrola|ověřte, že jste člověk|jste člověk
sk error stránka nenájdená|stránka sa nenašla|nenájden*|stránka neexistuje|prístup odmietnutý|prístup zamietnutý
  |došlo k chybe|vyskytla sa chyba|niečo sa pokazilo|chyba servera
sk unavailable nie je k dispozícii|nie je dostupn*
sk maintenance údržba|prebieha údržba|plánovaná údržba|čoskoro sme späť|čoskoro budeme späť
sk login prihlásiť|prihlásiť sa|prihlásenie|prihláste sa
sk redirect presmerovanie|budete presmerovan*|stránka bola presunutá
sk loading načítava sa|načítavanie|načítavam|čakajte prosím|prosím čakajte
sk consent skôr ako budete pokračovať|predtým ako budete pokračovať|vážime si vaše súkromie
sk challenge moment prosím|okamžik prosím|bezpečnostná kontrola|overte, že ste človek|ste človek
sl error strani ni mogoče najti|stran ni najdena|stran ne obstaja|ni najdeno|dostop zavrnjen|dostop je zavrnjen
  |prišlo je do napake|nekaj je šlo narobe|napaka strežnika
sl unavailable ni na voljo
sl maintenance vzdrževanje|v vzdrževanju|vzdrževalna dela|kmalu se vrnemo|kmalu bomo nazaj
sl login prijava|prijavite se|prijavi se
sl redirect preusmeritev|preusmerjanje|preusmerjeni boste|stran je bila premaknjena
sl loading nalaganje|nalagam|prosimo počakajte|počakajte
sl consent preden nadaljujete|cenimo vašo zasebnost
sl challenge trenutek|samo trenutek|varnostno preverjanje|potrdite, da ste človek|ste človek
hr error stranica nije pronađena|nije pronađen*|stranica ne postoji|pristup odbijen|pristup zabranjen
  |došlo je do pogreške|došlo je do greške|nešto je pošlo po zlu|pogreška poslužitelja
hr unavailable nije dostupn*
hr maintenance održavanje|u tijeku je održavanje|radovi na održavanju|uskoro se vraćamo|vraćamo se uskoro
hr login prijava|prijavi se|prijavite se
hr redirect preusmjeravanje|preusmjeravamo|bit ćete preusmjereni|stranica je premještena
hr loading učitavanje|učitava se|molimo pričekajte|pričekajte
hr consent prije nego nastavite|prije nego što nastavite|cijenimo vašu privatnost
hr challenge samo trenutak|trenutak|sigurnosna provjera|potvrdite da ste čovjek|jeste li čovjek
sr error страница није пронађена|није пронађен*|страница не постоји|приступ одбијен|приступ забрањен
  |дошло је до грешке|нешто је пошло наопако|грешка сервера|stranica nije pronađena|nije pronađen*|došlo je do greške
  |pristup odbijen
sr unavailable није доступн*
sr maintenance одржавање|у току је одржавање|ускоро се враћамо|održavanje|uskoro se vraćamo
sr login пријава|пријавите се|пријави се|prijava|prijavite se
sr redirect преусмеравање|бићете преусмерени|страница је премештена|preusmeravanje|bićete preusmereni
sr loading учитавање|учитава се|молимо сачекајте|сачекајте|učitavanje|učitava se|molimo sačekajte
sr consent пре него што наставите|поштујемо вашу приватност|pre nego što nastavite
sr challenge само тренутак|безбедносна провера|потврдите да сте човек|да ли сте човек|samo trenutak
bg error страницата не е намерена|не е намерен*|страницата не съществува|достъпът е отказан|отказан достъп
  |възникна грешка|нещо се обърка|грешка в сървъра
bg unavailable не е достъпн*|не е налич*
bg maintenance поддръжка|в процес на поддръжка|профилактика|скоро се връщаме|ще се върнем скоро
bg login вход|влезте|влез|влизане
bg redirect пренасочване|ще бъдете пренасочен*|страницата е преместена
bg loading зареждане|зарежда се|моля изчакайте|изчакайте
bg consent преди да продължите|ценим вашата поверителност|ценим поверителността
bg challenge един момент|само момент|проверка за сигурност|потвърдете, че сте човек|човек ли сте
ro error pagina nu a fost găsită|pagină negăsită|nu a fost găsit*|pagina nu există|acces interzis|acces refuzat
  |a apărut o eroare|ceva nu a funcționat|ceva nu a mers bine|eroare de server
ro unavailable nu este disponibil*
ro maintenance în mentenanță|mentenanță|lucrări de întreținere|în întreținere|revenim în curând|revenim imediat
ro login autentificare|conectare|conectați-vă|autentificați-vă|intră în cont
ro redirect redirecționare|se redirecționează|veți fi redirecționa*|vei fi redirecționat*|pagina a fost mutată
ro loading se încarcă|încărcare|vă rugăm așteptați|așteptați
ro consent înainte de a continua|înainte să continuați|prețuim confidențialitatea
ro challenge un moment|o clipă|verificare de securitate|confirmați că sunteți om|ești om
hu error az oldal nem található|nem található|az oldal nem létezik|hozzáférés megtagadva|hiba történt|valami elromlott
  |valami hiba történt|szerverhiba
hu unavailable nem elérhető|nem érhető el
hu maintenance karbantartás*|karbantartás alatt|hamarosan visszatérünk|mindjárt jövünk
hu login bejelentkezés|belépés|jelentkezzen be|jelentkezz be
hu redirect átirányítás|átirányítjuk|az oldal elköltözött
hu loading betöltés|töltés|kérjük várjon|kis türelmet|kérem várjon
hu consent mielőtt folytatná|mielőtt továbblép|fontos számunkra az ön adatvédelme
hu challenge egy pillanat|biztonsági ellenőrzés|igazolja, hogy ember|ön ember
el error η σελίδα δεν βρέθηκε|δεν βρέθηκε|η σελίδα δεν υπάρχει|δεν επιτρέπεται η πρόσβαση|άρνηση πρόσβασης
  |παρουσιάστηκε σφάλμα|προέκυψε σφάλμα|κάτι πήγε στραβά|σφάλμα διακομιστή
el unavailable δεν είναι διαθέσιμ*
el maintenance συντήρηση|υπό συντήρηση|εργασίες συντήρησης|επιστρέφουμε σύντομα
el login σύνδεση|είσοδος|συνδεθείτε|συνδέσου
el redirect ανακατεύθυνση|θα ανακατευθυνθείτε|η σελίδα μεταφέρθηκε
el loading φόρτωση|φορτώνει|περιμένετε|παρακαλώ περιμένετε
el consent πριν συνεχίσετε|σεβόμαστε την ιδιωτικότητά σας|εκτιμούμε το απόρρητό σας
el challenge μια στιγμή|ένα λεπτό|έλεγχος ασφαλείας|επαληθεύστε ότι είστε άνθρωπος|είστε άνθρωπος
tr error sayfa bulunamadı|bulunamadı|sayfa mevcut değil|erişim engellendi|erişim reddedildi|bir hata oluştu
  |bir şeyler ters gitti|bir sorun oluştu|sunucu hatası|çok fazla istek
tr unavailable kullanılamıyor|mevcut değil
tr maintenance bakımda|bakım çalışması|planlı bakım|yakında döneceğiz|kısa süre içinde döneceğiz
tr login giriş yap|oturum aç|giriş|oturum açın|giriş yapın
tr redirect yönlendiriliyorsunuz|yönlendirme|yönlendirileceksiniz|sayfa taşındı
tr loading yükleniyor|lütfen bekleyin|bekleyin
tr consent devam etmeden önce|gizliliğinize önem veriyoruz|gizliliğinize değer veriyoruz
tr challenge bir dakika|bir saniye|güvenlik kontrolü|güvenlik denetimi|insan olduğunuzu doğrulayın|robot musunuz
ru error страница не найдена|не найден*|страница не существует|страницы не существует|доступ запрещ*|доступ закрыт
  |произошла ошибка|возникла ошибка|что-то пошло не так|ошибка сервера|слишком много запросов
ru unavailable недоступ*
ru maintenance технические работы|техническое обслуживание|профилактические работы|ведутся работы|скоро вернемся
  |мы скоро вернемся|мы скоро вернёмся
ru login войти|вход|авторизация|войдите|авторизуйтесь
ru redirect перенаправление|вы будете перенаправлены|переадресация|перенаправляем|страница перемещена
ru loading загрузка|загружается|идет загрузка|идёт загрузка|подождите|пожалуйста, подождите
ru consent прежде чем продолжить|мы ценим вашу конфиденциальность
ru challenge один момент|минутку|проверка безопасности|проверка браузера|подтвердите, что вы человек
  |подтвердите, что вы не робот|вы не робот|вы робот
uk error сторінку не знайдено|не знайдено|сторінка не існує|сторінки не існує|доступ заборонено|сталася помилка
  |виникла помилка|щось пішло не так|помилка сервера|забагато запитів
uk unavailable недоступн*
uk maintenance технічні роботи|технічне обслуговування|профілактичні роботи|незабаром повернемося|скоро повернемося
uk login увійти|вхід|авторизація|увійдіть
uk redirect перенаправлення|вас буде перенаправлено|переадресація|сторінку переміщено
uk loading завантаження|завантажується|зачекайте|будь ласка, зачекайте
uk consent перш ніж продовжити|ми цінуємо вашу конфіденційність|ми цінуємо вашу приватність
uk challenge одну хвилинку|хвилинку|перевірка безпеки|підтвердьте, що ви людина|ви не робот|ви людина
et error lehte ei leitud|ei leitud|lehekülge ei leitud|lehte ei ole|juurdepääs keelatud|ligipääs keelatud|ilmnes viga
  |tekkis viga|midagi läks valesti|serveri viga
et unavailable pole saadaval|ei ole saadaval
et maintenance hooldustööd|hooldus|tuleme varsti tagasi|oleme peagi tagasi
et login logi sisse|sisselogimine|sisene
et redirect ümbersuunamine|suunatakse ümber|teid suunatakse|leht on kolinud
et loading laadimine|laadin|palun oodake|palun oota
et consent enne jätkamist|enne kui jätkate|hindame teie privaatsust
et challenge üks hetk|hetk palun|turvakontroll|kinnitage, et olete inimene|kas olete inimene
lv error lapa nav atrasta|nav atrast*|lapa neeksistē|piekļuve liegta|piekļuve aizliegta|radās kļūda|notika kļūda
  |kaut kas nogāja greizi|servera kļūda
lv unavailable nav pieejam*
lv maintenance apkope|tehniskie darbi|notiek apkope|drīz atgriezīsimies|tehniskā apkope
lv login ieiet|pieslēgties|pieteikties|pieteikšanās|ienākt
lv redirect pāradresācija|novirzīšana|jūs tiksiet novirzīt*|jūs tiekat novirzīt*|lapa ir pārvietota
lv loading ielādē|notiek ielāde|lūdzu uzgaidiet|uzgaidiet
lv consent pirms turpināt|mēs cienām jūsu privātumu
lv challenge vienu mirkli|brīdi|drošības pārbaude|apstipriniet, ka esat cilvēks|vai esat cilvēks
lt error puslapis nerastas|nerast*|puslapis neegzistuoja|prieiga uždrausta|prieiga draudžiama|įvyko klaida
  |kažkas nutiko ne taip|kažkas negerai|serverio klaida
lt unavailable nepasiekiam*|nebepasiekiam*
lt maintenance techniniai darbai|priežiūros darbai|vykdomi techniniai darbai|netrukus grįšime|greitai grįšime
lt login prisijungti|prisijungimas|prisijunkite
lt redirect nukreipimas|nukreipiama|būsite nukreipt*|puslapis perkeltas
lt loading įkeliama|kraunama|prašome palaukti|palaukite
lt consent prieš tęsdami|prieš tęsiant|mes vertiname jūsų privatumą
lt challenge vieną akimirką|akimirką|saugumo patikra|patvirtinkite, kad esate žmogus|ar esate žmogus
ca error pàgina no trobada|no s'ha trobat|no trobada|la pàgina no existeix|accés denegat|s'ha produït un error
  |hi ha hagut un error|alguna cosa ha anat malament|error del servidor
ca unavailable no està disponible
ca maintenance en manteniment|tasques de manteniment|tornem aviat|tornarem aviat
ca login inicia sessió|inicieu sessió|inici de sessió|entra|accedeix
ca redirect redirecció|redirigint|sereu redirigi*|seràs redirigi*|la pàgina s'ha mogut
ca loading carregant|s'està carregant|espereu|un moment si us plau
ca consent abans de continuar|valorem la teva privacitat|valorem la vostra privacitat
ca challenge un moment|comprovació de seguretat|verifica que ets humà|verifiqueu que sou humà|ets un robot
ar error الصفحة غير موجودة|غير موجودة|لم يتم العثور على الصفحة|لم يتم العثور|تم رفض الوصول|الوصول مرفوض|حدث خطأ
  |خطأ في الخادم|ممنوع
ar unavailable غير متاح*|غير متوفر*
ar maintenance تحت الصيانة|قيد الصيانة|أعمال صيانة|صيانة مجدولة|سنعود قريبا|سنعود قريبًا
ar login تسجيل الدخول|سجل الدخول|سجّل الدخول|الدخول
ar redirect إعادة توجيه|جاري التحويل|جارٍ التحويل|سيتم تحويلك|سيتم توجيهك|تم نقل الصفحة
ar loading جاري التحميل|جارٍ التحميل|تحميل|يرجى الانتظار|الرجاء الانتظار
ar consent قبل المتابعة|نحن نقدر خصوصيتك|نهتم بخصوصيتك
ar challenge لحظة واحدة|لحظة من فضلك|التحقق الأمني|فحص الأمان|تحقق من أنك إنسان|هل أنت إنسان|هل أنت روبوت
he error הדף לא נמצא|העמוד לא נמצא|לא נמצא|הדף אינו קיים|העמוד אינו קיים|הגישה נדחתה|אין גישה|אירעה שגיאה|משהו השתבש
  |שגיאת שרת
he unavailable אינו זמין|לא זמין
he maintenance בתחזוקה|עבודות תחזוקה|תחזוקה|נחזור בקרוב|מיד נשוב
he login התחברות|כניסה|התחבר|היכנס|התחברו
he redirect מפנה|הפניה|הנך מועבר|אתה מועבר|מעבירים אותך|הדף הועבר
he loading טוען|בטעינה|אנא המתן|נא להמתין
he consent לפני שתמשיך|לפני שתמשיכו|אנו מכבדים את פרטיותך
he challenge רק רגע|רגע אחד|בדיקת אבטחה|אמת שאתה אנושי|אשר שאתה אדם|האם אתה רובוט
fa error صفحه یافت نشد|صفحه پیدا نشد|یافت نشد|پیدا نشد|این صفحه وجود ندارد|دسترسی غیرمجاز|دسترسی ممنوع|خطایی رخ داد
  |خطایی رخ داده است|مشکلی پیش آمد*|خطای سرور
fa unavailable در دسترس نیست
fa maintenance در حال تعمیر|در دست تعمیر|در حال بروزرسانی|تعمیر و نگهداری|به زودی برمی گردیم|به زودی بازمی گردیم
fa login ورود|وارد شوید|ورود به سیستم|ورود به حساب
fa redirect در حال انتقال|در حال هدایت|انتقال به صفحه|منتقل می شوید|صفحه منتقل شده است
fa loading در حال بارگذاری|بارگذاری|لطفا صبر کنید|لطفاً صبر کنید|منتظر بمانید
fa consent قبل از ادامه|پیش از ادامه|حریم خصوصی شما برای ما مهم است
fa challenge یک لحظه|لحظه ای صبر کنید|بررسی امنیتی|تایید کنید که انسان هستید|آیا ربات هستید|آیا انسان هستید
hi error पृष्ठ नहीं मिला|पेज नहीं मिला|नहीं मिला|पृष्ठ मौजूद नहीं है|प्रवेश निषेध|पहुंच अस्वीकृत|एक त्रुटि हुई
  |त्रुटि हुई|कुछ गलत हो गया|सर्वर त्रुटि
hi unavailable उपलब्ध नहीं है
hi maintenance रखरखाव|रखरखाव के अधीन|हम जल्द ही वापस आएंगे|जल्द वापस आएंगे
hi login लॉग इन|लॉगिन|साइन इन|लॉग इन करें|साइन इन करें
hi redirect रीडायरेक्ट|पुनर्निर्देशित|आपको पुनर्निर्देशित किया जा रहा है|पृष्ठ स्थानांतरित
hi loading लोड हो रहा है|लोड हो रही है|कृपया प्रतीक्षा करें|प्रतीक्षा करें
hi consent जारी रखने से पहले|हम आपकी गोपनीयता को महत्व देते हैं
hi challenge एक क्षण|बस एक पल|सुरक्षा जांच|सत्यापित करें कि आप मनुष्य हैं|क्या आप रोबोट हैं
th error ไม่พบหน้า|ไม่พบหน้าที่|ไม่พบเพจ|หน้านี้ไม่มีอยู่|ไม่มีหน้านี้|การเข้าถึงถูกปฏิเสธ|ปฏิเสธการเข้าถึง
  |เกิดข้อผิดพลาด|มีบางอย่างผิดพลาด
th unavailable ไม่พร้อมใช้งาน|ไม่สามารถใช้งานได้
th maintenance ปิดปรับปรุง|อยู่ระหว่างปรับปรุง|บำรุงรักษา|กำลังปรับปรุง
th login เข้าสู่ระบบ|ลงชื่อเข้าใช้|ล็อกอิน
th redirect กำลังเปลี่ยนเส้นทาง|เปลี่ยนเส้นทาง|กำลังนำคุณไปยัง
th loading กำลังโหลด|โปรดรอสักครู่|กรุณารอสักครู่|โปรดรอ
th consent ก่อนดำเนินการต่อ|ก่อนที่คุณจะดำเนินการต่อ|เราให้ความสำคัญกับความเป็นส่วนตัว
th challenge รอสักครู่|ตรวจสอบความปลอดภัย|ยืนยันว่าคุณเป็นมนุษย์|คุณเป็นหุ่นยนต์หรือไม่
vi error không tìm thấy trang|không tìm thấy|trang không tồn tại|không tồn tại|truy cập bị từ chối|từ chối truy cập
  |đã xảy ra lỗi|có lỗi xảy ra|lỗi máy chủ
vi unavailable không khả dụng|không có sẵn
vi maintenance bảo trì|đang bảo trì|bảo trì hệ thống|chúng tôi sẽ sớm trở lại|sẽ quay lại sớm
vi login đăng nhập|vui lòng đăng nhập
vi redirect đang chuyển hướng|chuyển hướng|bạn sẽ được chuyển|trang đã được chuyển
vi loading đang tải|vui lòng chờ|vui lòng đợi|xin chờ
vi consent trước khi tiếp tục|trước khi bạn tiếp tục|chúng tôi coi trọng quyền riêng tư
vi challenge chờ một chút|xin chờ một lát|kiểm tra bảo mật|xác minh bạn là con người|bạn có phải là người máy
id error halaman tidak ditemukan|tidak ditemukan|halaman tidak ada|akses ditolak|terjadi kesalahan|ada yang salah
  |kesalahan server|terlalu banyak permintaan
id unavailable tidak tersedia|tidak lagi tersedia
id maintenance dalam pemeliharaan|sedang dalam perbaikan|pemeliharaan sistem|sedang pemeliharaan
  |kami akan segera kembali
id login masuk|log masuk|silakan masuk|login
id redirect mengalihkan|anda akan dialihkan|pengalihan|halaman telah dipindahkan
id loading memuat|sedang memuat|mohon tunggu|harap tunggu|tunggu sebentar
id consent sebelum melanjutkan|sebelum anda melanjutkan|kami menghargai privasi anda
id challenge tunggu sebentar|sebentar|pemeriksaan keamanan|verifikasi bahwa anda manusia|apakah anda robot
ja error ページが見つかりません|見つかりません|見つかりませんでした|ページは存在しません|存在しません
  |アクセスが拒否されました|アクセス拒否|エラーが発生しました|問題が発生しました|サーバーエラー|アクセスできません
ja unavailable ご利用いただけません|利用できません
ja maintenance メンテナンス中|ただいまメンテナンス|システムメンテナンス|メンテナンスのお知らせ|メンテナンスのため
ja login ログイン|サインイン|ログインしてください
ja redirect リダイレクト|転送します|自動的に移動します|ページは移動しました|移転しました|自動的に転送
ja loading 読み込み中|読込中|ロード中|お待ちください|しばらくお待ち
ja consent 続行する前に|続ける前に|プライバシーを尊重します
ja challenge 少々お待ち|セキュリティチェック|セキュリティ確認|人間であることを確認|ロボットではありません
zh error 页面不存在|找不到页面|页面未找到|未找到页面|页面找不到|无法找到|您访问的页面|访问被拒绝|拒绝访问|禁止访问
  |发生错误|出错了|出现错误|服务不可用|暂时无法访问|服务器错误|请求过多|頁面不存在|找不到頁面|找不到網頁|存取被拒
  |發生錯誤|出現錯誤|服務無法使用|無法存取
zh unavailable 已下架|暂不可用|不可用|無法使用
zh maintenance 维护中|系统维护|正在维护|网站维护|升级维护|維護中|系統維護|網站維護
zh login 登录|请登录|登入|請登入|请先登录|請先登入
zh redirect 正在跳转|页面跳转|自动跳转|重定向|正在重新導向|重新導向|頁面跳轉|自動跳轉|即将跳转
zh loading 加载中|正在加载|载入中|正在载入|请稍候|请稍等|載入中|正在載入|請稍候
zh consent 在继续之前|继续之前|繼續之前|我们重视您的隐私|我們重視您的隱私
zh challenge 请稍候|安全检查|安全验证|人机验证|验证您是真人|正在检查您的浏览器|安全檢查|安全驗證|驗證您是人類
  |驗證您是真人
ko error 페이지를 찾을 수 없*|찾을 수 없*|존재하지 않는*|접근이 거부*|액세스가 거부*|접근 권한이 없*|오류가 발생*
  |문제가 발생*|서버 오류
ko unavailable 사용할 수 없*|이용할 수 없*
ko maintenance 점검 중|점검중|시스템 점검|서비스 점검|유지보수
ko login 로그인|로그인이 필요*|로그인하세요
ko redirect 리디렉션|이동합니다|자동으로 이동*|페이지가 이동*|리다이렉트
ko loading 로딩 중|로딩중|불러오는 중|잠시만 기다려*|로드 중
ko consent 계속하기 전에|개인정보를 소중히*|개인 정보를 소중히*
ko challenge 잠시만 기다리*|보안 확인|보안 검사|사람인지 확인*|로봇이 아닙*|브라우저를 확인*
"""


def _read(table: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the phrases by language and kind; a line that begins with spaces continues the one before."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for line in table.replace("\n  |", "|").strip().split("\n"):
        language, kind, phrases = line.split(" ", 2)
        found.setdefault(language, {})[kind] = tuple(phrases.split("|"))
    return found


WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = _read(_TABLE)
