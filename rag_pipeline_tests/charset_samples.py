"""Short and long texts in many languages, with the legacy encodings that they were written in."""

import unicodedata
from typing import Final, NamedTuple


class Sample(NamedTuple):
    """A few words, a sentence and a paragraph of a language, and the encodings that can hold them."""

    encodings: tuple[str, ...]
    words: str
    sentence: str
    paragraph: str


_TONES: Final = frozenset("\u0300\u0301\u0303\u0309\u0323")

SAMPLES: Final[dict[str, Sample]] = {
    "zh-Hans": Sample(
        ("gbk", "gb18030"),
        "退款政策",
        "客户可在购买后十四天内申请退款。",
        "本手册说明如何安装和维护设备。安装之前，请先阅读安全须知，并确认电源已经关闭。如果设备无法启"
        "动，请检查电缆是否连接正确。仍有问题时，可以联系技术支持部门，他们会在两个工作日内回复。",
    ),
    "zh-Hant": Sample(
        ("big5", "big5hkscs"),
        "退款政策",
        "顧客可於購買後十四天內申請退款。",
        "本手冊說明如何安裝和維護設備。安裝之前，請先閱讀安全須知，並確認電源已經關閉。如果設備無法啟"
        "動，請檢查電纜是否連接正確。仍有問題時，可以聯絡技術支援部門，他們會在兩個工作天內回覆。",
    ),
    "ja": Sample(
        ("shift_jis", "cp932", "euc_jp"),
        "返金について",
        "購入後14日以内に返金を申請できます。",
        "この説明書では、製品の設置と保守の手順を説明します。作業を始める前に安全上の注意を読み、電源"
        "が切れていることを確認してください。起動しない場合は、ケーブルが正しく接続されているかを調べ"
        "てください。それでも解決しないときは、サポート窓口にお問い合わせください。",
    ),
    "ko": Sample(
        ("euc_kr", "cp949"),
        "환불 정책",
        "고객은 구매 후 14일 이내에 환불을 요청할 수 있습니다.",
        "이 설명서는 제품을 설치하고 관리하는 방법을 안내합니다. 작업을 시작하기 전에 안전 수칙을 읽고"
        " 전원이 꺼져 있는지 확인하십시오. 제품이 켜지지 않으면 케이블이 올바"
        "르게 연결되었는지 점검하십시오. 문제가 계속되면 고객 지원 부서에 문의하시기 바랍니다.",
    ),
    "ru": Sample(
        ("cp1251", "koi8_r"),
        "Возврат денег",
        "Клиенты могут вернуть товар в течение 14 дней.",
        "В этом руководстве описано, как установить прибор и ухаживать за ним. "
        "Перед началом работы прочитайте "
        "правила безопасности и убедитесь, что питание отключено. Если прибор не включается, проверьте, "
        "правильно ли подключён кабель. Если это не помогло, обратитесь в службу поддержки.",
    ),
    "uk": Sample(
        ("cp1251", "koi8_u"),
        "Повернення коштів",
        "Клієнти можуть повернути товар протягом 14 днів.",
        "У цьому посібнику описано, як встановити пристрій і доглядати за ним. Перед початком роботи "
        "прочитайте правила безпеки та переконайтеся, що живлення вимкнено. Якщо пристрій не вмикається, "
        "перевірте, чи правильно під'єднано кабель. Якщо це не допомогло, зверніться до служби підтримки.",
    ),
    "bg": Sample(
        ("cp1251",),
        "Връщане на стоки",
        "Клиентите могат да върнат стоката в срок от 14 дни.",
        "В това ръководство се описва как да инсталирате уреда и как да го поддържате. Преди да започнете "
        "работа, прочетете правилата за безопасност и се уверете, че захранването е изключено. Ако уредът "
        "не се включва, проверете дали кабелът е свързан правилно.",
    ),
    "sr": Sample(
        ("cp1251",),
        "Повраћај новца",
        "Купци могу да врате робу у року од 14 дана.",
        "Ово упутство објашњава како се уређај поставља и одржава. Пре почетка рада прочитајте безбедносна "
        "правила и проверите да ли је напајање искључено. Ако се уређај не укључује, проверите да ли "
        "је кабл исправно повезан.",
    ),
    "el": Sample(
        ("cp1253", "iso8859_7"),
        "Επιστροφή χρημάτων",
        "Οι πελάτες μπορούν να ζητήσουν επιστροφή χρημάτων μέσα σε 14 ημέρες.",
        "Αυτό το εγχειρίδιο περιγράφει πώς εγκαθίσταται και συντηρείται η "
        "συσκευή. Πριν ξεκινήσετε, διαβάστε "
        "τους κανόνες ασφαλείας και βεβαιωθείτε ότι το ρεύμα είναι κλειστό. Αν η συσκευή δεν ανάβει, "
        "ελέγξτε αν το καλώδιο έχει συνδεθεί σωστά.",
    ),
    "he": Sample(
        ("cp1255",),
        "מדיניות החזרים",
        "לקוחות יכולים לבקש החזר כספי בתוך ארבעה עשר ימים.",
        "המדריך הזה מסביר כיצד להתקין את המכשיר וכיצד לתחזק אותו. לפני תחילת העבודה קראו את כללי הבטיחות "
        "וודאו שהחשמל מנותק. אם המכשיר אינו נדלק, בדקו אם הכבל מחובר כראוי. אם הבעיה נמשכת, פנו אל שירות "
        "הלקוחות.",
    ),
    "ar": Sample(
        ("cp1256",),
        "سياسة الاسترداد",
        "يمكن للعملاء طلب استرداد الأموال خلال أربعة عشر يوما.",
        "يشرح هذا الدليل كيفية تركيب الجهاز وصيانته. قبل بدء العمل اقرأ قواعد السلامة وتأكد من فصل التيار "
        "الكهربائي. إذا لم يعمل الجهاز فتحقق من توصيل الكابل بشكل صحيح. وإذا استمرت المشكلة فاتصل بقسم "
        "الدعم الفني.",
    ),
    "fa": Sample(
        ("cp1256",),
        "بازگشت پول",
        "مشتريان مي‌توانند تا چهارده روز پس از خريد درخواست بازگشت پول کنند.",
        "اين راهنما روش نصب و نگهداري دستگاه را توضيح مي‌دهد. پيش از شروع کار قوانين ايمني را بخوانيد "
        "و مطمئن شويد که برق قطع است. اگر دستگاه روشن نشد، بررسي کنيد که کابل درست وصل شده باشد.",
    ),
    "th": Sample(
        ("cp874",),
        "นโยบายการคืนเงิน",
        "ลูกค้าสามารถขอเงินคืนได้ภายในสิบสี่วัน",
        "คู่มือนี้อธิบายวิธีติดตั้งและดูแลรักษาเครื่อง "
        "ก่อนเริ่มงานโปรดอ่านข้อควรระวังและตรวจสอบว่าปิดไฟแล้ว "
        "หากเครื่องไม่ทำงาน ให้ตรวจสอบว่าเสียบสายถูกต้องหรือไม่",
    ),
    "tr": Sample(
        ("cp1254",),
        "İade koşulları",
        "Müşteriler satın aldıktan sonra on dört gün içinde iade isteyebilir.",
        "Bu kılavuz cihazın nasıl kurulacağını ve bakımının nasıl yapılacağını "
        "açıklar. Çalışmaya başlamadan "
        "önce güvenlik kurallarını okuyun ve elektriğin kesildiğinden emin "
        "olun. Cihaz açılmıyorsa kablonun "
        "doğru bağlanıp bağlanmadığını kontrol edin.",
    ),
    "pl": Sample(
        ("cp1250", "iso8859_2"),
        "Zwrot pieniędzy",
        "Klienci mogą zwrócić towar w ciągu czternastu dni.",
        "Ta instrukcja opisuje, jak zainstalować urządzenie i jak o nie dbać. Przed rozpoczęciem pracy "
        "należy przeczytać zasady bezpieczeństwa i sprawdzić, czy zasilanie "
        "jest wyłączone. Jeśli urządzenie "
        "się nie włącza, sprawdź, czy kabel jest właściwie podłączony.",
    ),
    "cs": Sample(
        ("cp1250", "iso8859_2"),
        "Vrácení peněz",
        "Zákazníci mohou zboží vrátit do čtrnácti dnů.",
        "Tato příručka popisuje, jak zařízení nainstalovat a jak o ně pečovat. Před zahájením práce si "
        "přečtěte bezpečnostní pokyny a ujistěte se, že je napájení vypnuté. Pokud se zařízení nezapne, "
        "zkontrolujte, zda je kabel správně připojen.",
    ),
    "sk": Sample(
        ("cp1250",),
        "Vrátenie peňazí",
        "Zákazníci môžu tovar vrátiť do štrnástich dní.",
        "Táto príručka opisuje, ako zariadenie nainštalovať a ako sa oň starať. Pred začatím práce si "
        "prečítajte bezpečnostné pokyny a uistite sa, že je napájanie vypnuté. Ak sa zariadenie nezapne, "
        "skontrolujte, či je kábel správne pripojený.",
    ),
    "hu": Sample(
        ("cp1250", "iso8859_2"),
        "Pénzvisszatérítés",
        "A vásárlók tizennégy napon belül visszaküldhetik az árut.",
        "Ez az útmutató leírja, hogyan kell a készüléket üzembe helyezni és "
        "karbantartani. A munka megkezdése "
        "előtt olvassa el a biztonsági előírásokat, és győződjön meg arról, hogy az áram ki van kapcsolva. "
        "Ha a készülék nem kapcsol be, ellenőrizze, hogy a kábel megfelelően csatlakozik-e.",
    ),
    "ro": Sample(
        ("cp1250", "iso8859_2"),
        "Condiţii de returnare",
        "Clienţii pot returna produsele în termen de paisprezece zile.",
        "Acest manual descrie cum se instalează şi cum se întreţine aparatul. Înainte de a începe lucrul, "
        "citiţi regulile de siguranţă şi asiguraţi-vă că alimentarea este "
        "oprită. Dacă aparatul nu porneşte, "
        "verificaţi dacă este conectat corect cablul.",
    ),
    "hr": Sample(
        ("cp1250",),
        "Povrat novca znači više",
        "Kupci mogu vratiti robu u roku od četrnaest dana ako nisu koristili uređaj.",
        "Ovaj priručnik objašnjava kako postaviti uređaj i kako ga održavati. "
        "Prije početka rada pročitajte "
        "sigurnosna pravila i provjerite je li napajanje isključeno. Ako se "
        "uređaj ne uključuje, provjerite "
        "je li kabel ispravno priključen.",
    ),
    "sl": Sample(
        ("cp1250",),
        "Vračilo kupnine",
        "Kupci lahko blago vrnejo v štirinajstih dneh, če je še nepoškodovano.",
        "Ta priročnik opisuje, kako namestiti napravo in kako jo vzdrževati. Pred začetkom dela preberite "
        "varnostna navodila in se prepričajte, da je napajanje izključeno. Če "
        "se naprava ne vklopi, preverite, "
        "ali je kabel pravilno priključen.",
    ),
    "de": Sample(
        ("cp1252", "latin_1"),
        "Gebühren für Rückgaben",
        "Kunden können Ware innerhalb von vierzehn Tagen zurückgeben.",
        "Dieses Handbuch beschreibt, wie das Gerät aufgestellt und gepflegt wird. Lesen Sie vor Beginn "
        "der Arbeit die Sicherheitshinweise und prüfen Sie, ob der Strom ausgeschaltet ist. Läuft das "
        "Gerät nicht, prüfen Sie, ob das Kabel richtig angeschlossen ist. Größere Schäden müssen gemeldet "
        "werden.",
    ),
    "fr": Sample(
        ("cp1252", "latin_1"),
        "Délai de remboursement",
        "Les clients peuvent être remboursés après quatorze jours à compter de l'achat.",
        "Ce manuel décrit comment installer l'appareil et comment l'entretenir. Avant de commencer, lisez "
        "les règles de sécurité et vérifiez que le courant est coupé. Si "
        "l'appareil ne démarre pas, vérifiez "
        "que le câble est bien branché. Si le problème persiste, adressez-vous "
        "à notre service après-vente, "
        "où l'on vous répondra dès que possible.",
    ),
    "es": Sample(
        ("cp1252", "latin_1"),
        "Política de devolución",
        "¿Cuántos días tienen los clientes para pedir la devolución del dinero?",
        "Este manual describe cómo instalar el aparato y cómo cuidarlo. Antes de empezar, lea las normas "
        "de seguridad y compruebe que la corriente está cortada. Si el aparato no enciende, compruebe "
        "que el cable está bien conectado. Si el problema continúa, póngase en contacto con el servicio "
        "técnico; le responderemos mañana.",
    ),
    "pt": Sample(
        ("cp1252", "latin_1"),
        "Devolução e reembolso",
        "Os clientes podem pedir a devolução até catorze dias após a compra, não mais.",
        "Este manual descreve como instalar o aparelho e como cuidar dele. Antes de começar, leia as "
        "regras de segurança e verifique se a corrente está desligada. Se o aparelho não ligar, verifique "
        "se o cabo está bem conectado. Se o problema continuar, entre em "
        "contacto com a assistência técnica; "
        "responderemos amanhã.",
    ),
    "it": Sample(
        ("cp1252", "latin_1"),
        "Perché restituire",
        "Il cliente può restituire la merce entro quattordici giorni, perché è un suo diritto.",
        "Questo manuale descrive come installare l'apparecchio e come averne cura. Prima di iniziare, "
        "leggere le norme di sicurezza e verificare che la corrente sia staccata. Se l'apparecchio non "
        "si accende, controllare che il cavo sia collegato. Se il problema "
        "continua, rivolgersi al servizio "
        "clienti, che risponderà al più presto e ne spiegherà la modalità.",
    ),
    "sv": Sample(
        ("cp1252", "latin_1"),
        "Återbetalning av köp",
        "Kunder får lämna tillbaka varan inom fjorton dagar från köpet.",
        "Den här handboken beskriver hur apparaten ställs upp och hur den sköts. Läs säkerhetsreglerna "
        "innan du börjar och kontrollera att strömmen är avstängd. Om apparaten inte startar, kontrollera "
        "att kabeln är rätt ansluten.",
    ),
    "da": Sample(
        ("cp1252", "latin_1"),
        "Tilbagebetaling af køb",
        "Kunder må levere varen tilbage inden for fjorten dage efter købet.",
        "Denne håndbog beskriver, hvordan apparatet stilles op, og hvordan det "
        "passes. Læs sikkerhedsreglerne, "
        "før du begynder, og sørg for, at strømmen er slået fra. Hvis apparatet ikke starter, så undersøg, "
        "om kablet er sat rigtigt i.",
    ),
    "fi": Sample(
        ("cp1252", "latin_1"),
        "Palautusehdot ja käyttö",
        "Asiakkaat voivat palauttaa tuotteen neljäntoista päivän kuluessa.",
        "Tässä ohjeessa kerrotaan, miten laite asennetaan ja miten sitä hoidetaan. Lue turvallisuusohjeet "
        "ennen työn aloittamista ja varmista, että virta on katkaistu. Jos laite ei käynnisty, tarkista, "
        "että johto on liitetty oikein.",
    ),
    "nl": Sample(
        ("cp1252", "latin_1"),
        "Geïnteresseerde klanten",
        "Klanten kunnen één keer per jaar hun geld terugvragen, mits zij geïnformeerd zijn.",
        "Deze handleiding beschrijft hoe het toestel wordt geïnstalleerd en onderhouden. Lees vóór het "
        "werk de veiligheidsregels en controleer of de stroom is uitgeschakeld. Start het toestel niet, "
        "controleer dan of de kabel goed is aangesloten. Eén dag later krijgt "
        "u antwoord van onze coördinator.",
    ),
    "is": Sample(
        ("cp1252",),
        "Endurgreiðsla",
        "Viðskiptavinir geta skilað vörunni innan fjórtán daga.",
        "Í þessari handbók er lýst hvernig tækið er sett upp og hvernig á að "
        "hirða um það. Lestu öryggisreglurnar "
        "áður en þú byrjar og gakktu úr skugga um að slökkt sé á rafmagninu. Ef tækið fer ekki í gang "
        "skaltu athuga hvort snúran sé rétt tengd.",
    ),
    "et": Sample(
        ("cp1257",),
        "Tagastamise tingimused on lühikesed",
        "Kliendid võivad kauba tagastada neljateistkümne päeva jooksul.",
        "Selles juhendis kirjeldatakse, kuidas seadet paigaldada ja hooldada. Enne töö alustamist lugege "
        "läbi ohutusnõuded ja veenduge, et vool on välja lülitatud. Kui seade ei käivitu, kontrollige, "
        "kas juhe on õigesti ühendatud.",
    ),
    "lv": Sample(
        ("cp1257",),
        "Naudas atmaksa četrpadsmit dienās",
        "Klienti var atgriezt preci četrpadsmit dienu laikā pēc iegādes.",
        "Šajā rokasgrāmatā ir aprakstīts, kā ierīci uzstādīt un kā to kopt. Pirms darba sākšanas izlasiet "
        "drošības noteikumus un pārliecinieties, ka strāva ir izslēgta. Ja ierīce neieslēdzas, pārbaudiet, "
        "vai vads ir pareizi pievienots.",
    ),
    "lt": Sample(
        ("cp1257",),
        "Pinigų grąžinimas",
        "Pirkėjai gali grąžinti prekę per keturiolika dienų nuo įsigijimo.",
        "Šiame vadove aprašoma, kaip prietaisą įrengti ir prižiūrėti. Prieš pradėdami darbą perskaitykite "
        "saugos taisykles ir įsitikinkite, kad maitinimas išjungtas. Jei "
        "prietaisas neįsijungia, patikrinkite, "
        "ar laidas tinkamai prijungtas.",
    ),
    "vi": Sample(
        ("cp1258",),
        "Chính sách hoàn tiền",
        "Khách hàng có thể yêu cầu hoàn tiền trong vòng mười bốn ngày.",
        "Tài liệu này hướng dẫn cách lắp đặt và bảo trì thiết bị. Trước khi bắt đầu, hãy đọc các quy "
        "tắc an toàn và bảo đảm rằng nguồn điện đã được tắt. Nếu thiết bị không khởi động, hãy kiểm tra "
        "xem dây cáp đã được nối đúng chưa.",
    ),
}


def encoded(text: str, encoding: str) -> bytes:
    """The text's bytes; Windows-1258 writes Vietnamese tones as marks after the letter."""
    if encoding == "cp1258":
        text = "".join(map(_with_tones_apart, text))
    return text.encode(encoding)


def _with_tones_apart(char: str) -> str:
    parts = unicodedata.normalize("NFD", char)
    tones = "".join(part for part in parts if part in _TONES)
    rest = "".join(part for part in parts if part not in _TONES)
    return unicodedata.normalize("NFC", rest) + tones if tones else char
